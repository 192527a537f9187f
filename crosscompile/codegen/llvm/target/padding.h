// Bytes before a module's code, with which the same code can be placed at other addresses.
#pragma once

#include "ferry/target/target.h"

#include <cstdint>
#include <vector>

namespace ferry::codegen {

// The symbol is linked first and exported, so that the linker keeps it.
inline constexpr const char* kPaddingSymbol = "ferry_padding";

// Returns an object whose code is `bytes` bytes and a return.
std::vector<std::uint8_t> emit_padding(const Target& target, std::uint32_t bytes);

}  // namespace ferry::codegen
