// The entry point for libFuzzer; scripts/fuzz_handshake.sh builds and runs it.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/handshake/input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  ferry::fuzz::handshake_input({bytes, count});
  return 0;
}
