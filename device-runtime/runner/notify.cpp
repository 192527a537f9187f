#include "device-runtime/runner/notify.h"

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

bool matches_kernel() {
  seccomp_notif_sizes sizes{};
  return syscall(__NR_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) == 0 &&
         sizes.seccomp_notif == sizeof(seccomp_notif) && sizes.seccomp_notif_resp == sizeof(seccomp_notif_resp);
}

}  // namespace

void notify(Notice notice, std::int32_t result) {
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

bool leave_only_notices() {
  SeccompProgram<16 + 2 * std::size(kLeft)> program;
  for (const std::uint32_t call : kLeft) program.answer_call(call, program.kAllow);
  program.answer(program.kKill);
  return program.install(SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW) ||
         program.install(SECCOMP_FILTER_FLAG_TSYNC);
}

}  // namespace ferry::device
