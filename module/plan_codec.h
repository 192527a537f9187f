// Encodes the plans of a module's functions as bytes: one section of a .ferry file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "module/manifest.h"

namespace ferry {

// Encodes the plans of all functions that have one; returns no bytes if none has.
std::vector<std::uint8_t> encode_plans(const Manifest& manifest);
// Assigns their plans to the manifest's functions. check_manifest checks what the plans refer to.
Status decode_plans(std::span<const std::uint8_t> bytes, Manifest& manifest);

}  // namespace ferry
