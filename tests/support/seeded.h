// Numbers from a seed, the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ferry::test {

// A linear congruential generator, whose lower bits are hardly random: it offers the upper ones.
class Seeded {
 public:
  explicit Seeded(std::uint32_t seed) : state_(seed) {}

  // Returns 16 bits.
  std::uint32_t draw() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 16U;
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(draw() >> 8U); }

 private:
  std::uint32_t state_;
};

template <class Byte = std::uint8_t>
std::vector<Byte> seeded_bytes(std::size_t count, std::uint32_t seed) {
  static_assert(sizeof(Byte) == 1);
  Seeded seeded(seed);
  std::vector<Byte> bytes(count);
  for (Byte& byte : bytes) byte = static_cast<Byte>(seeded.byte());
  return bytes;
}

}  // namespace ferry::test
