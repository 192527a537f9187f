// The parts of a module's linked code, and where they are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ferry/client.h"
#include "module/image_kind.h"

namespace ferry::test {

// Returns the only image of this kind.
std::vector<std::uint8_t> image_of(const CompiledModule& module, ImageKind kind = ImageKind::elf);

struct Symbols {
  std::map<std::string, std::uint64_t> functions, constants, variables;  // their addresses
};
Symbols symbols_of(const std::vector<std::uint8_t>& image);

// Returns each function's instructions without their operands, which name addresses, as llvm-objdump prints them.
std::map<std::string, std::vector<std::string>> instructions_of(const std::vector<std::uint8_t>& image);

}  // namespace ferry::test
