#include "device-runtime/sandbox/filter.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
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
  allow,
  refuse,          // EPERM
  missing,         // ENOSYS: the caller then uses an older call whose arguments can be checked
  own_process,     // the first argument is the own process
  thread_only,     // the flags in the first argument create a thread that shares everything
  only_read,       // the third argument, a new value, is null
  local_socket,    // the first argument is AF_UNIX
  itself,          // the first argument is 0, the calling thread
  file_command,    // the second argument, of fcntl, only reads or copies the descriptor
  receiver_kept,   // the same, does not set the receiver of signals
  device_command,  // the second argument, of ioctl, controls a counter or asks whether there is a terminal
  terminal_kept,   // the same, neither sets the receiver of signals nor inserts terminal input
  own_memory,      // the flags of mmap, the fourth argument, select memory counted by RLIMIT_DATA
  process_option,  // the first argument, of prctl, names a thread or memory, or asks what holds
  parent_kept,     // the same, changes neither the parent-death signal nor who may inspect the process
};

struct Entry {
  std::uint32_t number;
  Rule strict, gpu;
};

#define FERRY_CALL(name, strict, gpu) {__NR_##name, Rule::strict, Rule::gpu},
#define FERRY_ARM_CALL(name) {__ARM_NR_##name, Rule::allow, Rule::allow},
constexpr Entry kEntries[] = {
#include "device-runtime/sandbox/system_calls.def"
};
#undef FERRY_CALL
#undef FERRY_ARM_CALL

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr std::uint32_t kMissing = SECCOMP_RET_ERRNO | ENOSYS;

#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint32_t kUnlisted = kAllow;  // the sanitizers' own calls are many
#else
constexpr std::uint32_t kUnlisted = kMissing;
#endif

constexpr std::uint32_t kFileCommands[] = {F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC};
constexpr std::uint32_t kReceiverCommands[] = {F_SETOWN, F_SETSIG, F_SETOWN_EX};
constexpr std::uint32_t kDeviceCommands[] = {PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, TCGETS};
constexpr std::uint32_t kTerminalCommands[] = {FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX};
constexpr std::uint32_t kProcessOptions[] = {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS,
                                             0x53564d41};  // PR_SET_VMA, which names memory
constexpr std::uint32_t kParentOptions[] = {PR_SET_PDEATHSIG, PR_SET_DUMPABLE};
constexpr std::uint32_t kMapShared = 1, kMapAnonymous = 0x20, kMapGrowsDown = 0x100;
// A thread with a table of descriptors of its own would hide what it has open.
constexpr std::uint32_t kThreadFlags = CLONE_THREAD | CLONE_FILES;

// All four architectures are little-endian: the low half of an argument comes first.
constexpr std::uint32_t argument(unsigned index, bool high = false) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + index * 8 + (high ? 4 : 0));
}

class Program {
 public:
  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action, 0, 0); }
  void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits, 0, 0); }
  // Skips `if_so` or `if_not` instructions, depending on whether the loaded value satisfies the comparison `how` with
  // `value`.
  void skip(std::uint16_t how, std::uint32_t value, std::uint8_t if_so, std::uint8_t if_not) {
    add(static_cast<std::uint16_t>(BPF_JMP | BPF_K | how), value, if_so, if_not);
  }

  void add_entry(std::uint32_t number, Rule rule, std::uint32_t own) {
    // Answers depending on whether the argument's low half is among the values.
    const auto depending_on = [&](unsigned at, std::span<const std::uint32_t> values, std::uint32_t if_so,
                                  std::uint32_t if_not) {
      skip(BPF_JEQ, number, 0, static_cast<std::uint8_t>(values.size() + 3));
      load(argument(at));
      for (std::size_t i = 0; i < values.size(); ++i) {
        skip(BPF_JEQ, values[i], static_cast<std::uint8_t>(values.size() - i), 0);
      }
      answer(if_not);
      answer(if_so);
    };
    const auto equals = [&](unsigned at, std::uint32_t value) {
      depending_on(at, std::span(&value, 1), kAllow, kRefuse);
    };
    switch (rule) {
      case Rule::own_process: return equals(0, own);
      case Rule::local_socket: return equals(0, AF_UNIX);
      case Rule::itself: return equals(0, 0);
      case Rule::file_command: return depending_on(1, kFileCommands, kAllow, kRefuse);
      case Rule::receiver_kept: return depending_on(1, kReceiverCommands, kRefuse, kAllow);
      case Rule::device_command: return depending_on(1, kDeviceCommands, kAllow, kRefuse);
      case Rule::terminal_kept: return depending_on(1, kTerminalCommands, kRefuse, kAllow);
      case Rule::process_option: return depending_on(0, kProcessOptions, kAllow, kRefuse);
      case Rule::parent_kept: return depending_on(0, kParentOptions, kRefuse, kAllow);
      case Rule::thread_only:
        skip(BPF_JEQ, number, 0, 5);
        load(argument(0));
        mask(kThreadFlags);
        skip(BPF_JEQ, kThreadFlags, 0, 1);
        answer(kAllow);
        return answer(kRefuse);
      case Rule::own_memory:
        // Automatically growing stacks are counted by another limit, and anonymous shared memory by none.
        skip(BPF_JEQ, number, 0, 6);
        load(argument(3));
        skip(BPF_JSET, kMapGrowsDown, 3, 0);
        skip(BPF_JSET, kMapAnonymous, 0, 1);
        skip(BPF_JSET, kMapShared, 1, 0);
        answer(kAllow);
        return answer(kRefuse);
      case Rule::only_read:
        skip(BPF_JEQ, number, 0, 6);
        load(argument(2));
        skip(BPF_JEQ, 0, 0, 3);
        load(argument(2, true));
        skip(BPF_JEQ, 0, 0, 1);
        answer(kAllow);
        return answer(kRefuse);
      case Rule::allow:
      case Rule::refuse:
      case Rule::missing:
        skip(BPF_JEQ, number, 0, 1);
        return answer(rule == Rule::allow ? kAllow : rule == Rule::refuse ? kRefuse : kMissing);
    }
  }

  std::span<sock_filter> code() { return std::span(code_).first(size_); }

 private:
  void add(std::uint16_t code, std::uint32_t value, std::uint8_t if_so, std::uint8_t if_not) {
    code_[size_++] = {code, if_so, if_not, value};
  }
  std::array<sock_filter, 16 + 9 * std::size(kEntries)> code_{};
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
  const bool is_gpu = filter == Filter::gpu;
  for (const Entry& entry : kEntries) {
    const Rule rule = is_gpu ? entry.gpu : entry.strict;
    if (is_gpu && rule == Rule::allow) continue;  // as everything that is not listed
    program.add_entry(entry.number, rule, static_cast<std::uint32_t>(getpid()));
  }
  program.answer(is_gpu ? kAllow : kUnlisted);
  const std::span<sock_filter> code = program.code();
  const sock_fprog whole{static_cast<unsigned short>(code.size()), code.data()};
  // Without this flag, kernels before 5.16 enable mitigations that slow down the measured code.
  if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &whole) == 0) return {};
  if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, 0, &whole) == 0) return {};
  return std::strerror(errno);
}

}  // namespace ferry::device
