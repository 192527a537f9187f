// The seed of the contents of a measurement's calls. Nobody may know it beforehand; afterwards it repeats them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ferry/api.h"

namespace ferry {

// 128 bits. All of them 0: none.
struct SecretSeed {
  std::uint64_t low = 0, high = 0;

  bool exists() const { return (low | high) != 0; }
  bool operator==(const SecretSeed&) const = default;
};

// Draws one from the random numbers of the operating system.
FERRY_API SecretSeed draw_secret_seed();
// Returns one of many that follow from it, and from which neither it nor the others can be computed.
FERRY_API SecretSeed derived_seed(const SecretSeed& seed, std::uint64_t index);

// 32 hexadecimal digits. Reading throws UsageError for anything else, and for zeros alone.
FERRY_API std::string to_text(const SecretSeed& seed);
FERRY_API SecretSeed parse_secret_seed(std::string_view text);

}  // namespace ferry
