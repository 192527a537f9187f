// Encodes the manifest as bytes: one section of a .ferry file.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "module/manifest.h"

namespace ferry {

std::vector<std::uint8_t> encode_manifest(const Manifest& manifest);
// Also runs check_manifest, so the result is safe to use. invalid_argument names the offset or the part that is wrong.
Result<Manifest> decode_manifest(std::span<const std::uint8_t> bytes);

}  // namespace ferry
