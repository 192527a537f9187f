// Lists the threads of this process.
#pragma once

#include <sys/types.h>

#include <vector>

namespace ferry::device {

// `folder` is an open /proc/self/task. Returns nothing if there is none.
std::vector<pid_t> own_threads(int folder);

}  // namespace ferry::device
