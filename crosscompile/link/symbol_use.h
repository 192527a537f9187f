// Finds where an object uses a symbol.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace ferry::link {

// Returns the source line of the first use, "f.c:7", or without debug information the function that contains it, "in
// saxpy"; empty if neither is known.
std::string first_use(std::span<const std::uint8_t> object, const std::string& symbol);

}  // namespace ferry::link
