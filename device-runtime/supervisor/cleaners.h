// Processes that remove what sessions have left. That may be any number of files, which is no reason to keep anybody
// waiting.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ferry::device {

class Cleaners {
 public:
  // Removes the folder with all that is in it, by a process of its own unless it is empty. Without a name, nothing.
  void start(const std::string& folder);
  // Forgets those that are done.
  void reap();

 private:
  std::vector<pid_t> processes_;
};

}  // namespace ferry::device
