#include "device-runtime/sandbox/filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ferry::device {
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
  deny,
  is_missing,      // ENOSYS: the caller then uses an older call whose arguments can be checked
  own_process,     // the first argument is the own process
  thread_only,     // the flags in the first argument create a thread
  only_read,       // the third argument, a new value, is null
  local_socket,    // the first argument is AF_UNIX
  itself,          // the first argument is 0, the calling thread
  file_command,    // the second argument, of fcntl, does not set the receiver of signals
  device_command,  // the same for ioctl; it also does not insert terminal input
  own_memory,      // the flags of mmap, the fourth argument, select memory counted by RLIMIT_DATA
  process_option,  // the first argument, of prctl, does not change the parent-death signal
};

struct Entry {
  std::uint16_t number;
  Rule rule;
  bool strict_only = false;
};

constexpr Entry kEntries[] = {
    // Other programs and processes. Threads remain allowed.
    {__NR_execve, Rule::deny, true},
    {__NR_execveat, Rule::deny, true},
    {__NR_clone, Rule::thread_only, true},
    {__NR_clone3, Rule::is_missing, true},  // its flags are in memory, which a filter cannot read
#ifdef __NR_fork
    {__NR_fork, Rule::deny, true},
    {__NR_vfork, Rule::deny, true},
#endif
    {__NR_kill, Rule::own_process, true},
    {__NR_tgkill, Rule::own_process},
    {__NR_tkill, Rule::deny},
    {__NR_rt_sigqueueinfo, Rule::deny},
    {__NR_rt_tgsigqueueinfo, Rule::deny},
    {__NR_pidfd_open, Rule::deny},
    {__NR_pidfd_getfd, Rule::deny},
    {__NR_pidfd_send_signal, Rule::deny},
    {__NR_ptrace, Rule::deny},
    {__NR_process_vm_readv, Rule::deny},
    {__NR_process_vm_writev, Rule::deny},
    {__NR_kcmp, Rule::deny},
    {__NR_prctl, Rule::process_option, true},
    // Signals sent through descriptors. The supervisor also holds the session's socket.
    {__NR_fcntl, Rule::file_command},
#ifdef __NR_fcntl64
    {__NR_fcntl64, Rule::file_command},
#endif
    {__NR_ioctl, Rule::device_command},
    // Scheduling and memory placement of others. A GPU's driver may place its own threads.
    {__NR_setpriority, Rule::deny},
    {__NR_ioprio_set, Rule::deny},
    {__NR_sched_setaffinity, Rule::itself, true},
    {__NR_sched_setscheduler, Rule::itself, true},
    {__NR_sched_setparam, Rule::itself, true},
    {__NR_sched_setattr, Rule::itself, true},
    {__NR_migrate_pages, Rule::deny},
    {__NR_move_pages, Rule::itself},
    // Objects that outlive the session.
    {__NR_shmget, Rule::deny},
    {__NR_msgget, Rule::deny},
    {__NR_semget, Rule::deny},
    {__NR_mq_open, Rule::deny},
    // Memory that no limit covers.
    {__NR_memfd_create, Rule::deny, true},
#ifdef __NR_memfd_secret
    {__NR_memfd_secret, Rule::deny, true},
#endif
#ifdef __NR_mmap
    {__NR_mmap, Rule::own_memory, true},
#endif
#ifdef __NR_mmap2
    {__NR_mmap2, Rule::own_memory, true},
#endif
    // Leaving the process group, which is terminated as a whole.
    {__NR_setsid, Rule::deny},
    {__NR_setpgid, Rule::deny},
    // New connections. The session's own connection exists already.
    {__NR_socket, Rule::local_socket},
    {__NR_socketpair, Rule::deny, true},
    // CUDA's driver listens on a local socket of its own; the session has no other socket to listen on.
    {__NR_bind, Rule::deny, true},
    {__NR_listen, Rule::deny, true},
    {__NR_accept4, Rule::deny, true},
    {__NR_accept, Rule::deny, true},
    {__NR_connect, Rule::deny, true},
    {__NR_io_uring_setup, Rule::deny},
    // Changing the limits that were just set.
    {__NR_prlimit64, Rule::only_read},
#ifdef __NR_setrlimit
    {__NR_setrlimit, Rule::deny},
#endif
    // The machine as a whole.
    {__NR_mount, Rule::deny},
    {__NR_umount2, Rule::deny},
    {__NR_pivot_root, Rule::deny},
    {__NR_chroot, Rule::deny},
    {__NR_move_mount, Rule::deny},
    {__NR_open_tree, Rule::deny},
    {__NR_fsopen, Rule::deny},
    {__NR_fspick, Rule::deny},
    {__NR_mount_setattr, Rule::deny},
    {__NR_unshare, Rule::deny},
    {__NR_setns, Rule::deny},
    {__NR_mknodat, Rule::deny},
    {__NR_open_by_handle_at, Rule::deny},
    {__NR_bpf, Rule::deny},
    {__NR_userfaultfd, Rule::deny},
    {__NR_keyctl, Rule::deny},
    {__NR_add_key, Rule::deny},
    {__NR_request_key, Rule::deny},
    {__NR_init_module, Rule::deny},
    {__NR_finit_module, Rule::deny},
    {__NR_delete_module, Rule::deny},
    {__NR_kexec_load, Rule::deny},
#ifdef __NR_kexec_file_load
    {__NR_kexec_file_load, Rule::deny},
#endif
    {__NR_reboot, Rule::deny},
    {__NR_swapon, Rule::deny},
    {__NR_swapoff, Rule::deny},
    {__NR_sethostname, Rule::deny},
    {__NR_setdomainname, Rule::deny},
    {__NR_settimeofday, Rule::deny},
    {__NR_clock_settime, Rule::deny},
    {__NR_clock_adjtime, Rule::deny},
    {__NR_adjtimex, Rule::deny},
    {__NR_acct, Rule::deny},
    {__NR_quotactl, Rule::deny},
    {__NR_syslog, Rule::deny},
    {__NR_personality, Rule::deny},
#ifdef __NR_clock_settime64
    {__NR_clock_settime64, Rule::deny},
    {__NR_clock_adjtime64, Rule::deny},
#endif
#ifdef __NR_mknod
    {__NR_mknod, Rule::deny},
#endif
#ifdef __NR_iopl
    {__NR_iopl, Rule::deny},
    {__NR_ioperm, Rule::deny},
#endif
};

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kMissing = SECCOMP_RET_ERRNO | ENOSYS;

// fcntl: F_SETOWN, F_SETSIG, F_SETOWN_EX.
constexpr std::uint32_t kSignalCommands[] = {8, 10, 15};
// ioctl: FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX.
constexpr std::uint32_t kDeviceCommands[] = {0x8901, 0x8902, 0x5412, 0x541c};
// prctl: PR_SET_PDEATHSIG.
constexpr std::uint32_t kProcessOptions[] = {1};
constexpr std::uint32_t kMapShared = 1, kMapAnonymous = 0x20, kMapGrowsDown = 0x100;

// All four architectures are little-endian: the low half of an argument comes first.
constexpr std::uint32_t argument(unsigned index, bool high = false) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + index * 8 + (high ? 4 : 0));
}

class Program {
 public:
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action, 0, 0); }
  // Skips `if_so` or `if_not` instructions, depending on whether the loaded value satisfies the comparison `how` with
  // `value`.
  void skip(std::uint16_t how, std::uint32_t value, std::uint8_t if_so, std::uint8_t if_not) {
    add(static_cast<std::uint16_t>(BPF_JMP | BPF_K | how), value, if_so, if_not);
  }

  void add_entry(const Entry& entry, std::uint32_t own) {
    const auto none_of = [&](std::uint32_t offset, std::span<const std::uint32_t> refused) {
      skip(BPF_JEQ, entry.number, 0, static_cast<std::uint8_t>(refused.size() + 3));
      load(offset);
      for (std::size_t i = 0; i < refused.size(); ++i) {
        skip(BPF_JEQ, refused[i], static_cast<std::uint8_t>(refused.size() - i), 0);
      }
      answer(kAllow);
      answer(kRefuse);
    };
    const auto judge = [&](std::uint32_t offset, std::uint16_t how, std::uint32_t value) {
      skip(BPF_JEQ, entry.number, 0, 4);
      load(offset);
      skip(how, value, 0, 1);
      answer(kAllow);
      answer(kRefuse);
    };
    switch (entry.rule) {
      case Rule::own_process: return judge(argument(0), BPF_JEQ, own);
      case Rule::thread_only: return judge(argument(0), BPF_JSET, CLONE_THREAD);
      case Rule::local_socket: return judge(argument(0), BPF_JEQ, 1);
      case Rule::itself: return judge(argument(0), BPF_JEQ, 0);
      case Rule::file_command: return none_of(argument(1), kSignalCommands);
      case Rule::device_command: return none_of(argument(1), kDeviceCommands);
      case Rule::process_option: return none_of(argument(0), kProcessOptions);
      case Rule::own_memory:
        // Automatically growing stacks are counted by another limit, and anonymous shared memory by none.
        skip(BPF_JEQ, entry.number, 0, 6);
        load(argument(3));
        skip(BPF_JSET, kMapGrowsDown, 3, 0);
        skip(BPF_JSET, kMapAnonymous, 0, 1);
        skip(BPF_JSET, kMapShared, 1, 0);
        answer(kAllow);
        return answer(kRefuse);
      case Rule::only_read:
        skip(BPF_JEQ, entry.number, 0, 6);
        load(argument(2));
        skip(BPF_JEQ, 0, 0, 3);
        load(argument(2, true));
        skip(BPF_JEQ, 0, 0, 1);
        answer(kAllow);
        return answer(kRefuse);
      case Rule::deny:
      case Rule::is_missing:
        skip(BPF_JEQ, entry.number, 0, 1);
        return answer(entry.rule == Rule::deny ? kRefuse : kMissing);
    }
  }

  std::span<sock_filter> code() { return std::span(code_).first(size_); }

 private:
  void add(std::uint16_t code, std::uint32_t value, std::uint8_t if_so, std::uint8_t if_not) {
    code_[size_++] = {code, if_so, if_not, value};
  }
  std::array<sock_filter, 16 + 8 * std::size(kEntries)> code_{};
  std::size_t size_ = 0;
};

}  // namespace

std::string install_filter(Filter filter) {
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
  for (Entry entry : kEntries) {
    if (filter == Filter::gpu && entry.strict_only) continue;
    if (filter == Filter::strict && entry.rule == Rule::local_socket) entry.rule = Rule::deny;
    program.add_entry(entry, static_cast<std::uint32_t>(getpid()));
  }
  program.answer(kAllow);
  const std::span<sock_filter> code = program.code();
  const sock_fprog whole{static_cast<unsigned short>(code.size()), code.data()};
  // Without this flag, kernels before 5.16 enable mitigations that slow down the measured code.
  if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &whole) == 0) return {};
  if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole) == 0) return {};
  return std::strerror(errno);
}

}  // namespace ferry::device
