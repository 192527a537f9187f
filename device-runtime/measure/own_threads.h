// Lists the threads of this process.
#pragma once

#include <dirent.h>
#include <sys/types.h>

#include <cstdlib>

namespace ferry::device {

template <class Visit>
void for_each_own_thread(Visit visit) {
  DIR* threads = opendir("/proc/self/task");
  if (threads == nullptr) return;
  while (const dirent* entry = readdir(threads)) {
    if (const auto thread = static_cast<pid_t>(std::strtoul(entry->d_name, nullptr, 10)); thread != 0) visit(thread);
  }
  closedir(threads);
}

}  // namespace ferry::device
