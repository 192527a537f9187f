// Samples of test cases. A case is drawn by its name, so that other cases do not decide about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace ferry::test {

// Returns the number in an environment variable, or 1 if it is not set.
inline std::uint64_t sample_seed(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

// Returns which of several parts of about the same size, from 0, a case belongs to.
inline std::size_t part_of(std::string_view name, std::size_t parts, std::uint64_t seed) {
  // FNV-1a, then the mixing steps of SplitMix64.
  std::uint64_t hash = 0xcbf29ce484222325 ^ seed;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return (hash ^ (hash >> 31)) % parts;
}

}  // namespace ferry::test
