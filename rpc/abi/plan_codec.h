// The plans of a module's functions as bytes: one section of a .ferry file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rpc/abi/manifest.h"
#include "rpc/base/status.h"

namespace ferry {

// Of all functions that have one; no bytes when none has.
std::vector<std::uint8_t> encode_plans(const Manifest& manifest);
// Gives the manifest's functions their plans. What a plan refers to is checked by check_manifest.
Status decode_plans(std::span<const std::uint8_t> bytes, Manifest& manifest);

}  // namespace ferry
