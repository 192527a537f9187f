// A fuzz target for the code that parses bytes from unauthenticated peers, and for the records after the handshake.
#pragma once

#include <cstdint>
#include <span>

namespace ferry::fuzz {

// The first byte selects the parser for the others. Aborts if an invariant is violated: bytes are accepted without the
// key, or a key file that parses is not reproduced by writing it.
void handshake_input(std::span<const std::uint8_t> input);

}  // namespace ferry::fuzz
