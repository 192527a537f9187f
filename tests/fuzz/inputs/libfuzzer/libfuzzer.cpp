// The entry point for libFuzzer; one program is built for each target.
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/inputs/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ferry::fuzz::FERRY_FUZZ_TARGET({data, size});
  return 0;
}
