// A seeded source of random choices, the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

namespace ferry::fuzz {

class Random {
 public:
  // Every seed is a state on the same cycle. Mixing takes consecutive seeds far apart, so that their sequences do not
  // overlap.
  explicit Random(std::uint64_t seed) : state_(mixed(seed + 0x632be59bd9b4e019ULL)) {}

  // splitmix64, by S. Vigna, in the public domain: https://prng.di.unimi.it/splitmix64.c
  std::uint64_t bits() { return mixed(state_ += 0x9e3779b97f4a7c15ULL); }
  // Returns a number in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(bits() % count); }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[below(choices.size())];
  }

 private:
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace ferry::fuzz
