#include "ferry/secret_seed.h"

#include <algorithm>
#include <array>
#include <random>

#include "base/hex.h"
#include "base/random_stream.h"
#include "ferry/error.h"

namespace ferry {
namespace {

using SeedBytes = std::array<std::uint8_t, 16>;

std::uint64_t drawn_word() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

// Servers of earlier versions know only the lower half, of which 0 means that there is none.
SecretSeed with_lower_half(std::uint64_t low, std::uint64_t high) { return {low == 0 ? 1 : low, high}; }

}  // namespace

SecretSeed draw_secret_seed() { return with_lower_half(drawn_word(), drawn_word()); }

SecretSeed derived_seed(const SecretSeed& seed, std::uint64_t index) {
  RandomStream stream(seed);
  const std::uint64_t low = stream.next(), high = stream.next();
  // The stream under another key, so that no two of them overlap.
  RandomStream of_index({low ^ index, high});
  const std::uint64_t first = of_index.next();
  return with_lower_half(first, of_index.next());
}

std::string to_text(const SecretSeed& seed) {
  SeedBytes bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(seed.high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(seed.low >> (56 - 8 * i));
  }
  return hex_text(bytes);
}

SecretSeed parse_secret_seed(std::string_view text) {
  SeedBytes bytes{};
  SecretSeed seed;
  if (parse_hex(text, bytes)) {
    for (std::size_t i = 0; i < 8; ++i) {
      seed.high = seed.high << 8 | bytes[i];
      seed.low = seed.low << 8 | bytes[8 + i];
    }
  }
  if (seed.low == 0)
    throw UsageError(
        "expected a secret seed of 32 lower-case hexadecimal digits, of which the last 16 are not all 0, got '" +
        std::string(text) + "'");
  return seed;
}

}  // namespace ferry
