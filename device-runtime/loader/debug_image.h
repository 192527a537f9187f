// A code image as debuggers want it: with the addresses at which it really lies.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace ferry::device {

// A copy of the file whose sections, symbols and debug information have `base` added to their addresses. Debug
// information can be moved only where the linker kept its relocations (--emit-relocs). Trusts nothing in the file: what
// makes no sense is left as it is.
std::vector<std::uint8_t> make_debug_image(std::span<const std::uint8_t> file, std::uintptr_t base);

// Calls visit(name, address, bytes) for every function of a debug image.
using FunctionVisitor = std::function<void(const char* name, std::uintptr_t address, std::uint64_t bytes)>;
void for_each_function(std::span<const std::uint8_t> image, const FunctionVisitor& visit);

}  // namespace ferry::device
