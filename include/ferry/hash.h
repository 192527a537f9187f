// BLAKE2b-256, by which modules are identified everywhere (libsodium's crypto_generichash with a 32-byte digest).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ferry {

using Hash = std::array<std::uint8_t, 32>;

Hash blake2b(std::span<const std::uint8_t> bytes);

// Returns 64 lower-case hexadecimal digits.
std::string to_hex(const Hash& hash);

}  // namespace ferry
