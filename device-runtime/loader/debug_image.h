// A code image for debuggers, with the addresses at which it is actually loaded.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace ferry::device {

// Returns a copy of the file in which the addresses of sections, symbols and debug information are increased by `base`.
// Debug information can be relocated only if the linker kept its relocations (--emit-relocs). The file is untrusted:
// invalid parts are left unchanged.
std::vector<std::uint8_t> make_debug_image(std::span<const std::uint8_t> file, std::uintptr_t base);

// Calls visit(name, address, bytes) for every function of a debug image.
using FunctionVisitor = std::function<void(const char* name, std::uintptr_t address, std::uint64_t bytes)>;
void for_each_function(std::span<const std::uint8_t> image, const FunctionVisitor& visit);

}  // namespace ferry::device
