// Reads the manifests and plans of format versions 1 to 3, which servers still load.
#pragma once

#include <cstdint>
#include <span>

#include "base/status.h"
#include "module/manifest.h"

namespace ferry {

// `plans` is the section of that name; null if the file has none. Functions of a CPU get a plan of one call. Also runs
// check_manifest, so the result is safe to use.
Result<Manifest> decode_earlier_manifest(std::uint32_t version, std::span<const std::uint8_t> manifest,
                                         const std::span<const std::uint8_t>* plans);

}  // namespace ferry
