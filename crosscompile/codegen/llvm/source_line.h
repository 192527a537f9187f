// Maps places in machine code back to the source text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ferry::codegen {

// Returns "mm.tc:3" for an address of a linked image; empty when its debug information does not cover it or is missing.
std::string source_line(std::span<const std::uint8_t> image, std::uint64_t address);

}  // namespace ferry::codegen
