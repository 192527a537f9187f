#include "device-runtime/runner/notify.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstddef>

#include "base/seccomp_program.h"

namespace ferry::device {
namespace {

// Stands for a notice. The filter of a session allows it, which a listener's answer would not survive otherwise;
// nothing here calls it, and without a listener it does nothing.
constexpr std::uint32_t kNotice = __NR_getppid;

// The clock is a system call where the kernel's library of fast calls has none.
constexpr std::uint32_t kLeft[] = {
    kNotice,
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

// The descriptors of notify(), if there is no listener.
std::uint32_t sockets[2];
bool has_sockets = false;

void tell(int socket, StopMessage message) {
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

}  // namespace

void notify(Notice notice, std::int32_t result) {
  if (has_sockets) return tell(static_cast<int>(sockets[notice == Notice::parked ? 1 : 0]), {notice, result});
  syscall(kNotice, static_cast<long>(notice), static_cast<long>(result));
}

int open_listener() {
  if (!matches_kernel()) return -1;
  SeccompProgram<16> program;
  program.answer_call(kNotice, program.kNotify);
  program.answer(program.kAllow);
  const int listener = program.install_with_listener(SECCOMP_FILTER_FLAG_SPEC_ALLOW);
  return listener >= 0 ? listener : program.install_with_listener(0);
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
