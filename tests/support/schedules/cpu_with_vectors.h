// A CPU for tests of schedules and lowering, whose code is interpreted and never generated.
#pragma once

#include "ferry/target/target.h"

#include <cstdint>

namespace ferry::test {

// Returns an x86-64 CPU with vectors of so many bits: with 512, also with 32 registers and masks.
Target cpu_with_vectors(std::uint32_t vector_bits);

}  // namespace ferry::test
