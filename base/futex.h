// Waits and wakes on a 32-bit word with the Linux futex call; needs no condition variable, mutex or library.
#pragma once

#include <atomic>
#include <cstdint>

namespace ferry {

// Returns when woken, if the word is not `expected`, or spuriously: callers must check again.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected);
void futex_wake(const std::atomic<std::uint32_t>& word, int sleepers);

}  // namespace ferry
