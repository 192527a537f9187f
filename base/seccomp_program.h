// Builds and installs a seccomp filter: a program of the kernel's packet filter that answers a system call by its
// number and arguments. Allocates no memory.
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ferry {

// `kMost` is the greatest number of instructions.
template <std::size_t kMost>
class SeccompProgram {
 public:
  static constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
  static constexpr std::uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
  static constexpr std::uint32_t kMissing = SECCOMP_RET_ERRNO | ENOSYS;
  static constexpr std::uint32_t kNotify = SECCOMP_RET_USER_NOTIF;
  static constexpr std::uint32_t kKill = SECCOMP_RET_KILL_PROCESS;

  // Ends a process that makes calls of another architecture. Afterwards the number of the call is loaded.
  SeccompProgram() {
    load(offsetof(seccomp_data, arch));
    skip(BPF_JEQ, kArch, 1, 0);
    answer(kKill);
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    // The x32 ABI has the same calls under other numbers.
    skip(BPF_JGE, 0x40000000, 0, 1);
    answer(kMissing);
#endif
  }

  // Returns where half of an argument is. All four architectures are little-endian: the low half comes first.
  static constexpr std::uint32_t argument(unsigned index, bool high = false) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + index * 8 + (high ? 4 : 0));
  }

  void load(std::uint32_t offset) { add(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0); }
  void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits, 0, 0); }
  void answer(std::uint32_t action) { add(BPF_RET | BPF_K, action, 0, 0); }
  // Skips `if_so` or `if_not` instructions, depending on whether the loaded value satisfies the comparison `how` with
  // `value`.
  void skip(std::uint16_t how, std::uint32_t value, std::uint8_t if_so, std::uint8_t if_not) {
    add(static_cast<std::uint16_t>(BPF_JMP | BPF_K | how), value, if_so, if_not);
  }

  // Gives the system call this answer.
  void answer_call(std::uint32_t number, std::uint32_t action) {
    skip(BPF_JEQ, number, 0, 1);
    answer(action);
  }
  // Gives it one of two answers, depending on whether the low half of an argument is among the values.
  void answer_by_value(std::uint32_t number, unsigned at, std::span<const std::uint32_t> values, std::uint32_t if_so,
                       std::uint32_t if_not) {
    skip(BPF_JEQ, number, 0, static_cast<std::uint8_t>(values.size() + 3));
    load(argument(at));
    for (std::size_t i = 0; i < values.size(); ++i)
      skip(BPF_JEQ, values[i], static_cast<std::uint8_t>(values.size() - i), 0);
    answer(if_not);
    answer(if_so);
  }

  // Begins a block of at most 255 instructions for numbers below `next`, which greater ones skip. Returns what
  // end_block() takes.
  std::size_t begin_block(std::uint32_t next) {
    skip(BPF_JGE, next, 0, 0);
    return size_ - 1;
  }
  void end_block(std::size_t begin) { code_[begin].jt = static_cast<std::uint8_t>(size_ - begin - 1); }

  // Applies to the calling thread and what it starts or executes, permanently. Needs no_new_privs. Returns whether it
  // worked.
  bool install(unsigned flags) const { return set(flags) == 0; }
  // Likewise. Returns the descriptor that receives the calls whose answer is kNotify; -1 with errno if the system has
  // none.
  int install_with_listener(unsigned flags) const { return set(flags | SECCOMP_FILTER_FLAG_NEW_LISTENER); }

 private:
#if defined(__x86_64__)
  static constexpr std::uint32_t kArch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
  static constexpr std::uint32_t kArch = AUDIT_ARCH_AARCH64;
#elif defined(__arm__)
  static constexpr std::uint32_t kArch = AUDIT_ARCH_ARM;
#else
  static constexpr std::uint32_t kArch = AUDIT_ARCH_RISCV64;
#endif

  int set(unsigned flags) const {
    const sock_fprog whole{static_cast<unsigned short>(size_), const_cast<sock_filter*>(code_.data())};
    return static_cast<int>(syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &whole));
  }
  void add(std::uint16_t code, std::uint32_t value, std::uint8_t if_so, std::uint8_t if_not) {
    code_[size_++] = {code, if_so, if_not, value};
  }
  std::array<sock_filter, kMost> code_{};
  std::size_t size_ = 0;
};

}  // namespace ferry
