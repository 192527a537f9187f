// How the processor rounds the calling thread's floats and whether it flushes subnormal numbers to zero. A function
// must leave this as it found it (the calling conventions of all architectures say so), and what a kernel left would
// change the results of whatever the thread computes next.
#pragma once

#include <cstdint>

namespace ferry::device {

class FloatMode {
 public:
  // The calling thread's.
  FloatMode() : bits_(read()) {}

  // Makes it the calling thread's again if it has changed since. To read it takes ten cycles, to write it dozens.
  void restore() const {
    const std::uint64_t now = read();
    if (((now ^ bits_) & kMode) != 0) write(bits_);
  }

 private:
  // The other bits say what has happened: comparisons, inexact results.
#if defined(__x86_64__)
  // Intel 64 and IA-32 Architectures, volume 1, 10.2.3: MXCSR; above it 8.1.5: the control word of the x87.
  static constexpr std::uint64_t kMode = 0x1f3f'0000'ffc0;
  static std::uint64_t read() {
    std::uint16_t word = 0;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    return __builtin_ia32_stmxcsr() | std::uint64_t{word} << 32;
  }
  static void write(std::uint64_t bits) {
    const auto word = static_cast<std::uint16_t>(bits >> 32);
    __asm__ volatile("fldcw %0" : : "m"(word));
    __builtin_ia32_ldmxcsr(static_cast<std::uint32_t>(bits));
  }
#elif defined(__aarch64__)
  static constexpr std::uint64_t kMode = ~std::uint64_t{0};  // FPCR; what has happened is in FPSR
  static std::uint64_t read() {
    std::uint64_t bits = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void write(std::uint64_t bits) { __asm__ volatile("msr fpcr, %0" : : "r"(bits)); }
#elif defined(__arm__)
  static constexpr std::uint64_t kMode = 0x07ff'9f00;  // Arm ARM, FPSCR
  static std::uint64_t read() {
    std::uint32_t bits = 0;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(bits));
    return bits;
  }
  static void write(std::uint64_t bits) {
    __asm__ volatile("vmsr fpscr, %0" : : "r"(static_cast<std::uint32_t>(bits)));
  }
#elif defined(__riscv)
  static constexpr std::uint64_t kMode = 7;  // frm, the rounding mode; subnormal numbers are never flushed
  static std::uint64_t read() {
    std::uint64_t bits = 0;
    __asm__ volatile("frrm %0" : "=r"(bits));
    return bits;
  }
  static void write(std::uint64_t bits) { __asm__ volatile("fsrm %0" : : "r"(bits)); }
#else
#error "an architecture whose control registers are unknown"
#endif

  std::uint64_t bits_;
};

// Restores the mode at the end of a block.
class FloatModeGuard {
 public:
  FloatModeGuard() = default;
  FloatModeGuard(const FloatModeGuard&) = delete;
  FloatModeGuard& operator=(const FloatModeGuard&) = delete;
  ~FloatModeGuard() { mode_.restore(); }

 private:
  FloatMode mode_;
};

}  // namespace ferry::device
