// Machine code of a linked image as text.
#pragma once

#include "crosscompile/target/machine_code.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ferry::codegen {

// Returns the functions of a linked ELF image, sorted by name. Functions at the same address, which the linker folded,
// appear once. The bytes may be anything: what cannot be read is left out, and bytes that are no instructions are shown
// as such.
std::vector<MachineFunction> disassemble(std::span<const std::uint8_t> image, const Target& target);

}  // namespace ferry::codegen
