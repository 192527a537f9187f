// Waits and wakes on a 32-bit word with the Linux futex call; needs no condition variable, mutex or library.
#pragma once

#include <atomic>
#include <cstdint>

namespace ferry::device {

// Returns when woken, if the word is not `expected`, or spuriously: callers must check again.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected);
void futex_wake(const std::atomic<std::uint32_t>& word, int sleepers);

// Tells the processor that this is a spin loop.
inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#elif defined(__riscv)
  __asm__ volatile(".4byte 0x0100000f");  // pause: a hint that older cores and assemblers treat as a fence
#endif
}

}  // namespace ferry::device
