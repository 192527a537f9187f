// From places in machine code back to the text it was compiled from.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ferry::codegen {

// "mm.tc:3" for an address of a linked image; empty when its debug information, if any, does not say.
std::string source_line(std::span<const std::uint8_t> image, std::uint64_t address);

}  // namespace ferry::codegen
