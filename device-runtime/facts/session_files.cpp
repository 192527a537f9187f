#include "device-runtime/facts/session_files.h"

#include <fcntl.h>

namespace ferry::device {

SessionFiles SessionFiles::open() {
  const auto file = [](const char* path) { return Descriptor(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)); };
  return {file("/proc/meminfo"), file("/sys/fs/cgroup/memory.max"), file("/sys/fs/cgroup/memory.current"),
          file("/proc/self/status"), file("/proc/self/task")};
}

}  // namespace ferry::device
