#include "device-runtime/supervisor/child_process.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace ferry::device {
namespace {

void close_range_of(unsigned first, unsigned last) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, last, 0) == 0) return;
#endif
  rlimit limit{};
  const rlim_t most = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::min<rlim_t>(limit.rlim_cur, 4096) : 4096;
  for (unsigned descriptor = first; descriptor <= last && descriptor < most; ++descriptor) {
    close(static_cast<int>(descriptor));
  }
}

}  // namespace

void reset_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGCHLD, SIGHUP}) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

void close_descriptors_but(std::initializer_list<int> keep) {
  unsigned first = STDERR_FILENO + 1;
  while (true) {
    unsigned next = ~0U;  // to keep
    for (const int kept : keep) {
      if (kept >= static_cast<int>(first)) next = std::min(next, static_cast<unsigned>(kept));
    }
    if (next == ~0U) return close_range_of(first, next);
    if (next > first) close_range_of(first, next - 1);
    first = next + 1;
  }
}

}  // namespace ferry::device
