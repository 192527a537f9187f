#include "crosscompile/confine/call_filter.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <span>

#include "base/seccomp_program.h"

namespace ferry::confine {
namespace {

enum class Rule : std::uint8_t {
  refuse,
  is_missing,  // ENOSYS: the C library then makes an older call, whose arguments can be checked
  itself,      // the first argument is 0, the calling process or thread
  own_group,   // the first argument is the process itself
  process,     // the flags in the first argument make no namespace
  option,      // the first argument, of prctl, leaves the signal of the parent's death alone
  opening,     // the flags of open or openat do not empty a file that is opened for reading
  command,     // the second argument, of fcntl or ioctl, is not one of kCommands
};

struct Entry {
  std::uint16_t number;
  Rule rule;
};

constexpr Entry kEntries[] = {
    // The network, and services of this machine, which listen on sockets too.
    {__NR_socket, Rule::refuse},
    {__NR_connect, Rule::refuse},
    {__NR_bind, Rule::refuse},
    {__NR_listen, Rule::refuse},
    {__NR_io_uring_setup, Rule::is_missing},
    {__NR_io_uring_enter, Rule::is_missing},
    {__NR_io_uring_register, Rule::is_missing},
    // Emptying files, which Landlock guards since Linux 6.2.
    {__NR_truncate, Rule::refuse},
#ifdef __NR_truncate64
    {__NR_truncate64, Rule::refuse},
#endif
#ifdef __NR_open
    {__NR_open, Rule::opening},
#endif
    {__NR_openat, Rule::opening},
    {437, Rule::is_missing},  // openat2, whose flags are in memory
    // Owner, mode, times and attributes of files, which Landlock does not guard.
    {__NR_fchmod, Rule::refuse},
    {__NR_fchmodat, Rule::refuse},
    {452, Rule::is_missing},  // fchmodat2
    {__NR_fchown, Rule::refuse},
    {__NR_fchownat, Rule::refuse},
    {__NR_utimensat, Rule::refuse},
    {__NR_setxattr, Rule::refuse},
    {__NR_lsetxattr, Rule::refuse},
    {__NR_fsetxattr, Rule::refuse},
    {463, Rule::is_missing},  // setxattrat
    {__NR_removexattr, Rule::refuse},
    {__NR_lremovexattr, Rule::refuse},
    {__NR_fremovexattr, Rule::refuse},
    {466, Rule::is_missing},  // removexattrat
    {469, Rule::is_missing},  // file_setattr
    {__NR_open_by_handle_at, Rule::refuse},
    {__NR_mknodat, Rule::refuse},
#ifdef __NR_chmod
    {__NR_chmod, Rule::refuse},
    {__NR_chown, Rule::refuse},
    {__NR_lchown, Rule::refuse},
    {__NR_mknod, Rule::refuse},
#endif
#ifdef __NR_utimes
    {__NR_utimes, Rule::refuse},
    {__NR_futimesat, Rule::refuse},
#endif
#ifdef __NR_utime
    {__NR_utime, Rule::refuse},
#endif
#ifdef __NR_utimensat_time64
    {__NR_utimensat_time64, Rule::refuse},
#endif
    // Other processes: signals, memory, limits, priorities.
    {__NR_kill, Rule::refuse},
    {__NR_tkill, Rule::refuse},
    {__NR_tgkill, Rule::own_group},
    {__NR_rt_sigqueueinfo, Rule::refuse},
    {__NR_rt_tgsigqueueinfo, Rule::refuse},
    {__NR_pidfd_open, Rule::is_missing},
    {__NR_pidfd_getfd, Rule::refuse},
    {__NR_pidfd_send_signal, Rule::refuse},
    {__NR_fcntl, Rule::command},
#ifdef __NR_fcntl64
    {__NR_fcntl64, Rule::command},
#endif
    {__NR_ioctl, Rule::command},
    {__NR_ptrace, Rule::refuse},
    {__NR_process_vm_readv, Rule::refuse},
    {__NR_process_vm_writev, Rule::refuse},
    {__NR_process_madvise, Rule::refuse},
    {__NR_kcmp, Rule::refuse},
    {__NR_prlimit64, Rule::itself},
    {__NR_setpriority, Rule::refuse},
    {__NR_ioprio_set, Rule::refuse},
    {__NR_sched_setaffinity, Rule::itself},
    {__NR_sched_setscheduler, Rule::itself},
    {__NR_sched_setparam, Rule::itself},
    {__NR_sched_setattr, Rule::itself},
    {__NR_migrate_pages, Rule::refuse},
    {__NR_move_pages, Rule::refuse},
    // Leaving the group, which is ended as a whole, or surviving the parent.
    {__NR_setsid, Rule::refuse},
    {__NR_setpgid, Rule::refuse},
    {__NR_prctl, Rule::option},
    {__NR_clone, Rule::process},
    {__NR_clone3, Rule::is_missing},  // its flags are in memory, which a filter cannot read
    {__NR_unshare, Rule::refuse},
    {__NR_setns, Rule::refuse},
    // Objects that outlive the program.
    {__NR_shmget, Rule::refuse},
    {__NR_msgget, Rule::refuse},
    {__NR_semget, Rule::refuse},
    {__NR_mq_open, Rule::refuse},
    {__NR_keyctl, Rule::refuse},
    {__NR_add_key, Rule::refuse},
    {__NR_request_key, Rule::refuse},
    // The kernel.
    {__NR_bpf, Rule::refuse},
    {__NR_perf_event_open, Rule::refuse},
    {__NR_userfaultfd, Rule::refuse},
};

// fcntl: F_SETOWN, F_SETSIG, F_SETOWN_EX. ioctl: FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX, FS_IOC_SETFLAGS for 64 and
// 32 bits, FS_IOC_FSSETXATTR.
constexpr std::uint32_t kCommands[] = {8, 10, 15, 0x8901, 0x8902, 0x5412, 0x541c, 0x40086602, 0x40046602, 0x401c5820};
// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; clone() cannot make the others.
constexpr std::uint32_t kNamespaces = 0x7e020000;
constexpr std::uint32_t kOpening = O_ACCMODE | O_TRUNC, kEmptying = O_RDONLY | O_TRUNC;

using Program = SeccompProgram<64 + 6 * std::size(kEntries)>;
constexpr std::uint32_t kAllow = Program::kAllow, kRefuse = Program::kRefuse;

// None of the arguments that are checked is wider than an int.
void add_entry(Program& program, const Entry& entry, std::uint32_t own) {
  const auto equals = [&](std::uint32_t value, std::uint32_t if_so, std::uint32_t if_not) {
    program.answer_by_value(entry.number, 0, std::span(&value, 1), if_so, if_not);
  };
  switch (entry.rule) {
    case Rule::refuse: return program.answer_call(entry.number, kRefuse);
    case Rule::is_missing: return program.answer_call(entry.number, Program::kMissing);
    case Rule::itself: return equals(0, kAllow, kRefuse);
    case Rule::own_group: return equals(own, kAllow, kRefuse);
    case Rule::option: return equals(PR_SET_PDEATHSIG, kRefuse, kAllow);
    case Rule::command: return program.answer_by_value(entry.number, 1, kCommands, kRefuse, kAllow);
    case Rule::opening:
      program.skip(BPF_JEQ, entry.number, 0, 5);
      program.load(Program::argument(entry.number == __NR_openat ? 2 : 1));
      program.mask(kOpening);
      program.skip(BPF_JEQ, kEmptying, 1, 0);
      program.answer(kAllow);
      program.answer(kRefuse);
      return;
    case Rule::process:
      program.skip(BPF_JEQ, entry.number, 0, 4);
      program.load(Program::argument(0));
      program.skip(BPF_JSET, kNamespaces, 1, 0);
      program.answer(kAllow);
      return program.answer(kRefuse);
  }
}

}  // namespace

bool has_call_filter() {
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool install_call_filter() {
  Program program;
  for (const Entry& entry : kEntries) add_entry(program, entry, static_cast<std::uint32_t>(getpid()));
  program.answer(kAllow);
  return program.install(0);
}

}  // namespace ferry::confine
