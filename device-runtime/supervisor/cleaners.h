// Processes that delete the files of ended sessions. There may be any number of files, and nobody should have to wait
// long for their deletion.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::device {

class Cleaners {
 public:
  // Removes the folder with its contents, in a separate process unless the folder is empty. Does nothing if the name is
  // empty. `others_run`: there are sessions that this must not disturb.
  void start(const std::string& folder, bool others_run);
  // Also reaps another process, which ends by itself.
  void adopt(pid_t process) { processes_.push_back(process); }
  // Returns for how long, at most half a second, the next session should wait for the deletion, which would disturb
  // what it measures. After that time, the processes give way (background.h).
  std::int64_t wait_ns() const;
  // Reaps the processes that have finished.
  void reap();

 private:
  std::vector<pid_t> processes_;
  std::int64_t give_way_at_ = 0;
};

}  // namespace ferry::device
