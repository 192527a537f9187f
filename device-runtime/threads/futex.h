// Futexes and a pause, for threads that wait for each other.
#pragma once

#include "base/futex.h"

namespace ferry::device {

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
