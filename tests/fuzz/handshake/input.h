// What takes bytes from strangers before they have shown a key, and records after: one input for a fuzzer.
#pragma once

#include <cstdint>
#include <span>

namespace ferry::fuzz {

// The first byte chooses what reads the others. Aborts when a promise is broken: bytes without the key open, or a key
// file that reads does not come back as it was written.
void handshake_input(std::span<const std::uint8_t> input);

}  // namespace ferry::fuzz
