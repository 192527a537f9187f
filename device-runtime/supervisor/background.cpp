#include "device-runtime/supervisor/background.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/descriptor.h"
#include "base/format.h"
#include "device-runtime/supervisor/child_process.h"
#include "rpc/server/final_frame.h"

namespace ferry::device {

void begin_background() { setsid(); }

void give_way(pid_t group) {
  constexpr int kProcessGroup = 2, kIdle = 3 << 13;  // the C library has no header for ioprio_set
  setpriority(PRIO_PGRP, static_cast<id_t>(group), 19);
  syscall(SYS_ioprio_set, kProcessGroup, group, kIdle);
  // Priorities apply within the scheduler's group.
  const Descriptor share(open(format("/proc/%d/autogroup", group).c_str(), O_WRONLY | O_CLOEXEC));
  (void)!write(share.number(), "19", 2);
}

void close_elsewhere(int socket) {
  const pid_t parent = getpid(), owner = fork();
  if (owner == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_descriptors_but({socket});
    while (getppid() == parent) pause();
    _exit(0);
  }
  server::close_at_once(socket);
  if (owner < 0) return;
  kill(owner, SIGKILL);
  while (waitpid(owner, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace ferry::device
