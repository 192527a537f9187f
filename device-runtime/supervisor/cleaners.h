// Processes that delete the files of ended sessions. There may be any number of files, and nobody should have to wait
// for their deletion.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ferry::device {

class Cleaners {
 public:
  // Removes the folder with its contents, in a separate process unless the folder is empty. Does nothing if the name is
  // empty.
  void start(const std::string& folder);
  // Reaps the processes that have finished.
  void reap();

 private:
  std::vector<pid_t> processes_;
};

}  // namespace ferry::device
