#include "device-runtime/supervisor/close_descriptors.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace ferry::device {

void close_descriptors_but(int keep) {
  const unsigned first = 3, kept = static_cast<unsigned>(std::max(keep, static_cast<int>(first) - 1));
  bool done = true;
#ifdef SYS_close_range
  if (kept > first) done = syscall(SYS_close_range, first, kept - 1, 0) == 0;
  done = syscall(SYS_close_range, kept + 1, ~0U, 0) == 0 && done;
  if (done) return;
#endif
  rlimit limit{};
  const rlim_t most = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::min<rlim_t>(limit.rlim_cur, 4096) : 4096;
  for (int descriptor = static_cast<int>(first); descriptor < static_cast<int>(most); ++descriptor) {
    if (descriptor != keep) close(descriptor);
  }
}

}  // namespace ferry::device
