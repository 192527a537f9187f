// Memory that held a secret, wiped as soon as the secret is no longer needed: a session is a copy of the process that
// shook hands with all clients, and what that process forgot to wipe can be read there.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace ferry::secure {

// Zeros that no compiler leaves out.
void wipe(void* bytes, std::size_t count);

// Bytes that are wiped when they go out of scope, copies included.
template <std::size_t N>
struct SecretBytes : std::array<std::uint8_t, N> {
  SecretBytes() : std::array<std::uint8_t, N>{} {}
  // The first of them; zeros follow.
  SecretBytes(std::initializer_list<std::uint8_t> first) : SecretBytes() {
    std::copy_n(first.begin(), std::min(first.size(), N), this->begin());
  }
  SecretBytes(const SecretBytes&) = default;
  SecretBytes& operator=(const SecretBytes&) = default;
  ~SecretBytes() { wipe(this->data(), N); }
};

// Wipes what functions that have returned left on the stack, from the caller's frame downwards.
void wipe_stack();

namespace internal {

template <class Work>
[[gnu::noinline]] auto run_below(Work& work) {
  return work();
}

}  // namespace internal

// Calls work() and then wipes the stack that it used, however it spilled its registers. What it returns is no secret.
template <class Work>
[[gnu::noinline]] auto wiping_stack(Work work) {
  const struct Wiper {
    ~Wiper() { wipe_stack(); }
  } wiper;
  return internal::run_below(work);
}

}  // namespace ferry::secure
