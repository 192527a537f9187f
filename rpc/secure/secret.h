// Memory for secrets, wiped as soon as the secret is no longer needed. A session is a forked copy of the process that
// performs the handshakes with all clients, so anything that process did not wipe could be read in the session.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace ferry::secure {

// Zeroes the memory in a way that no compiler optimises away.
void wipe(void* bytes, std::size_t count);

// Bytes that are wiped when they go out of scope; so are copies of them.
template <std::size_t N>
struct SecretBytes : std::array<std::uint8_t, N> {
  SecretBytes() : std::array<std::uint8_t, N>{} {}
  // Initialises the first bytes; the rest are zero.
  SecretBytes(std::initializer_list<std::uint8_t> first) : SecretBytes() {
    std::copy_n(first.begin(), std::min(first.size(), N), this->begin());
  }
  SecretBytes(const SecretBytes&) = default;
  SecretBytes& operator=(const SecretBytes&) = default;
  ~SecretBytes() { wipe(this->data(), N); }
};

// Wipes the data that functions that have returned left on the stack, from the caller's frame downwards.
void wipe_stack();

namespace internal {

template <class Work>
[[gnu::noinline]] auto run_below(Work& work) {
  return work();
}

}  // namespace internal

// Calls work() and then wipes the stack that it used, wherever it spilled registers. The return value must not be
// secret.
template <class Work>
[[gnu::noinline]] auto wiping_stack(Work work) {
  const struct Wiper {
    ~Wiper() { wipe_stack(); }
  } wiper;
  return internal::run_below(work);
}

}  // namespace ferry::secure
