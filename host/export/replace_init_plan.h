// Replaces what an init plan computes by constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ferry/blob_source.h"
#include "module/manifest.h"

namespace ferry {

using Contents = std::vector<std::uint8_t>;

// Returns the contents of one of the manifest's constants.
Contents read_constant(const Manifest& manifest, const BlobSource* blobs, std::size_t index);

// Makes the persistent buffers of the only function constants with these contents, and removes its init plan and the
// constants that only this reads. Returns the one blob that is left.
std::shared_ptr<const BlobSource> replace_init_plan(Manifest& manifest, const BlobSource* blobs,
                                                    const std::vector<Contents>& persistent);

}  // namespace ferry
