#include "crosscompile/confine/call_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ferry::confine {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArch = AUDIT_ARCH_AARCH64;
#elif defined(__arm__)
constexpr std::uint32_t kArch = AUDIT_ARCH_ARM;
#else
constexpr std::uint32_t kArch = AUDIT_ARCH_RISCV64;
#endif

enum class Rule : std::uint8_t {
  refuse,
  is_missing,  // ENOSYS: the C library then makes an older call, whose arguments can be checked
  itself,      // the first argument is 0, the calling process or thread
  own_group,   // the first argument is the process itself
  process,     // the flags in the first argument make no namespace
  option,      // the first argument, of prctl, leaves the signal of the parent's death alone
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
constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kMissing = SECCOMP_RET_ERRNO | ENOSYS;

// All architectures are little-endian: the low half of an argument comes first. None of those that are checked is wider
// than an int.
constexpr std::uint32_t argument(unsigned index) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + index * 8);
}

class Program {
 public:
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action, 0, 0); }
  // Skips `if_so` or `if_not` instructions, depending on how the loaded value compares.
  void skip(std::uint16_t how, std::uint32_t value, std::uint8_t if_so, std::uint8_t if_not) {
    add(static_cast<std::uint16_t>(BPF_JMP | BPF_K | how), value, if_so, if_not);
  }

  void add_entry(const Entry& entry, std::uint32_t own) {
    // Both answers stand at the end: allow, then refuse.
    const auto judge = [&](std::uint16_t how, std::uint32_t value, bool allows) {
      skip(BPF_JEQ, entry.number, 0, 4);
      load(argument(0));
      skip(how, value, allows ? 0 : 1, allows ? 1 : 0);
      answer(kAllow);
      answer(kRefuse);
    };
    switch (entry.rule) {
      case Rule::refuse:
      case Rule::is_missing:
        skip(BPF_JEQ, entry.number, 0, 1);
        return answer(entry.rule == Rule::refuse ? kRefuse : kMissing);
      case Rule::itself: return judge(BPF_JEQ, 0, true);
      case Rule::own_group: return judge(BPF_JEQ, own, true);
      case Rule::process: return judge(BPF_JSET, kNamespaces, false);
      case Rule::option: return judge(BPF_JEQ, PR_SET_PDEATHSIG, false);
      case Rule::command:
        skip(BPF_JEQ, entry.number, 0, std::size(kCommands) + 3);
        load(argument(1));
        for (std::size_t i = 0; i < std::size(kCommands); ++i)
          skip(BPF_JEQ, kCommands[i], static_cast<std::uint8_t>(std::size(kCommands) - i), 0);
        answer(kAllow);
        return answer(kRefuse);
    }
  }

  std::span<sock_filter> code() { return std::span(code_).first(size_); }

 private:
  void add(std::uint16_t code, std::uint32_t value, std::uint8_t if_so, std::uint8_t if_not) {
    code_[size_++] = {code, if_so, if_not, value};
  }
  std::array<sock_filter, 64 + 6 * std::size(kEntries)> code_{};
  std::size_t size_ = 0;
};

}  // namespace

bool has_call_filter() {
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  return syscall(__NR_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

bool install_call_filter() {
  Program program;
  program.load(offsetof(seccomp_data, arch));
  program.skip(BPF_JEQ, kArch, 1, 0);
  program.answer(SECCOMP_RET_KILL_PROCESS);
  program.load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  // The x32 ABI has the same calls under other numbers.
  program.skip(BPF_JGE, 0x40000000, 0, 1);
  program.answer(kMissing);
#endif
  for (const Entry& entry : kEntries) program.add_entry(entry, static_cast<std::uint32_t>(getpid()));
  program.answer(kAllow);
  const std::span<sock_filter> code = program.code();
  const sock_fprog whole{static_cast<unsigned short>(code.size()), code.data()};
  return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole) == 0;
}

}  // namespace ferry::confine
