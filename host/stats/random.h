// A small seeded random number generator, the same on every machine, so that random results are reproducible.
#pragma once

#include <cmath>
#include <cstdint>

namespace ferry::stats {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // Returns a number in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // Returns a number in [0, count); the modulo bias is below 2^-32 for all counts that fit memory.
  std::uint64_t below(std::uint64_t count) { return next() % count; }
  // Returns a normally distributed number with mean 0 and variance 1 (Box and Muller, 1958).
  double normal() {
    constexpr double kTwoPi = 6.283185307179586;
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(kTwoPi * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace ferry::stats
