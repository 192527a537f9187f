// Tests that secrets are erased once they are no longer needed, wherever they were stored.
#include "rpc/secure/secret.h"

#include <doctest/doctest.h>

#include <new>

#include "rpc/secure/record.h"

namespace ferry::secure {
namespace {

// Returns whether the memory of a destroyed T holds none of the bytes that `fill` wrote.
template <class T, class Fill>
bool is_wiped(Fill fill) {
  alignas(T) std::uint8_t place[sizeof(T)];
  auto* const object = new (place) T{};
  fill(*object);
  object->~T();
  // Examine the bytes of the destroyed object through a volatile pointer, so that the compiler keeps the reads.
  const volatile std::uint8_t* const bytes = place;
  for (std::size_t i = 0; i < sizeof place; ++i) {
    if (bytes[i] == 0x5a) return false;
  }
  return true;
}

TEST_CASE("keys, hashes that keys are made of and the states of both directions are wiped in their destructors") {
  CHECK(is_wiped<KeyBytes>([](KeyBytes& key) { key.fill(0x5a); }));
  CHECK(is_wiped<SecretHash>([](SecretHash& hash) { hash.fill(0x5a); }));
  CHECK(is_wiped<TransportKeys>([](TransportKeys& keys) {
    keys.to_initiator.fill(0x5a);
    keys.to_responder.fill(0x5a);
  }));
  CHECK(is_wiped<SealingState>([](SealingState& state) { state.key.fill(0x5a); }));
  CHECK(is_wiped<OpeningState>([](OpeningState& state) { state.key.fill(0x5a); }));
}

TEST_CASE("the first bytes of a secret can be given, and zeros follow") {
  const KeyBytes key{1, 2};
  CHECK(key[1] == 2);
  CHECK(key[2] == 0);
  CHECK(key.size() == 32);
}

#if !defined(__SANITIZE_ADDRESS__)  // AddressSanitizer monitors the stack
// Leaves a pattern in its stack frame; returns its address.
[[gnu::noinline]] const volatile std::uint8_t* leave_pattern() {
  volatile std::uint8_t frame[4096];
  for (volatile std::uint8_t& byte : frame) byte = 0x5a;
  const volatile std::uint8_t* place = frame;
  asm volatile("" : "+r"(place));
  return place;
}

TEST_CASE("what a function leaves on the stack is wiped behind it") {
  const volatile std::uint8_t* place = nullptr;
  const int result = wiping_stack([&] {
    place = leave_pattern();
    return 42;
  });
  CHECK(result == 42);
  std::size_t left = 0;
  for (std::size_t i = 0; i < 4096; ++i) left += place[i] == 0x5a;
  CHECK(left < 64);  // allows for chance and for later use of the stack
}
#endif

}  // namespace
}  // namespace ferry::secure
