// Links objects into the position-independent shared object that devices load, with lld in this process.
#pragma once

#include "crosscompile/target/target.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry::link {

// Only `exports` stay visible. Throws InternalError with lld's own words, or CompileError when there are objects of the
// user's own among them. Safe to call from several threads (one links at a time).
// The code of `padding`, an object too, stands before all other.
std::vector<std::uint8_t> link_shared(std::span<const std::uint8_t> object, const Target& target,
                                      std::span<const std::string> exports,
                                      std::span<const std::vector<std::uint8_t>> user_objects = {},
                                      std::span<const std::uint8_t> padding = {});

// The symbols that a linked object wants from where it is loaded.
std::vector<std::string> imports_of(std::span<const std::uint8_t> linked);

}  // namespace ferry::link
