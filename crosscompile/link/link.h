// Links one object into the position-independent shared object that devices load, with lld in this process.
#pragma once

#include "crosscompile/target/target.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferry::link {

// Only `exports` stay visible. Throws InternalError with lld's own words. Safe to call from several threads (one links
// at a time).
std::vector<std::uint8_t> link_shared(std::span<const std::uint8_t> object, const Target& target,
                                      std::span<const std::string> exports);

}  // namespace ferry::link
