#include "device-runtime/runner/notify.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>

#include "base/seccomp_program.h"

namespace ferry::device {
namespace {

// Stands for a stop. The filter of a session allows it, which a listener's answer would not survive otherwise; nothing
// here calls it, and once a tracer has let it go on it does nothing.
constexpr std::uint32_t kStop = __NR_getppid;

// The clock is a system call where the kernel's library of fast calls has none.
constexpr std::uint32_t kLeft[] = {
    kStop,
    __NR_futex,
    __NR_exit_group,
    __NR_rt_sigreturn,
#ifdef __NR_sigreturn
    __NR_sigreturn,
#endif
    __NR_clock_gettime,
#ifdef __NR_futex_time64
    __NR_futex_time64,
    __NR_clock_gettime64,
#endif
};

// The descriptors of stop(), if there is neither a listener nor a tracer.
std::uint32_t sockets[2];
bool has_sockets = false;

void tell(int socket) {
  const StopMessage message;
  char answer = 0;
  long done = 0;
  do {
    done = syscall(__NR_write, socket, &message, sizeof message);
  } while (done < 0 && errno == EINTR);
  do {
    done = syscall(__NR_read, socket, &answer, sizeof answer);
  } while (done < 0 && errno == EINTR);
  if (done != sizeof answer) _exit(0);  // the judge is gone
}

bool matches_kernel() {
  seccomp_notif_sizes sizes{};
  return syscall(__NR_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 &&
         sizes.seccomp_notif == sizeof(seccomp_notif) && sizes.seccomp_notif_resp == sizeof(seccomp_notif_resp);
}

SeccompProgram<16> answering_stops(std::uint32_t action) {
  SeccompProgram<16> program;
  program.answer_call(kStop, action);
  program.answer(program.kAllow);
  return program;
}

}  // namespace

void stop(StoppingThread thread) {
  if (has_sockets) return tell(static_cast<int>(sockets[thread == StoppingThread::first ? 0 : 1]));
  syscall(kStop);
}

int open_listener() {
  if (!matches_kernel()) return -1;
  const auto program = answering_stops(SECCOMP_RET_USER_NOTIF);
  const int listener = program.install_with_listener(SECCOMP_FILTER_FLAG_SPEC_ALLOW);
  return listener >= 0 ? listener : program.install_with_listener(0);
}

bool report_stops_to_tracer() {
  const auto program = answering_stops(SECCOMP_RET_TRACE);
  return program.install(SECCOMP_FILTER_FLAG_SPEC_ALLOW) || program.install(0);
}

StopSockets StopSockets::open() {
  StopSockets opened;
  for (std::size_t i = 0; i < 2; ++i) {
    int ends[2];
    // Messages have bounds, and the answer to each stop wakes one thread.
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return {};
    opened.own[i] = Descriptor(ends[0]);
    opened.judges[i] = Descriptor(ends[1]);
  }
  return opened;
}

void use_sockets(const std::array<Descriptor, 2>& own) {
  has_sockets = true;
  for (std::size_t i = 0; i < 2; ++i) sockets[i] = static_cast<std::uint32_t>(own[i].number());
}

bool leave_only_notices() {
  SeccompProgram<32 + 2 * std::size(kLeft)> program;
  if (has_sockets) {
    program.answer_by_value(__NR_read, 0, sockets, program.kAllow, program.kKill);
    program.answer_by_value(__NR_write, 0, sockets, program.kAllow, program.kKill);
  }
  for (const std::uint32_t call : kLeft) program.answer_call(call, program.kAllow);
  program.answer(program.kKill);
  return program.install(SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW) ||
         program.install(SECCOMP_FILTER_FLAG_TSYNC);
}

}  // namespace ferry::device
