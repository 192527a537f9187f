// The place of the blobs' contents in a .ferry file: after the module itself, in the manifest's order.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "module/manifest.h"

namespace ferry {

// Each blob begins at a multiple of this in the file, and each constant in its blob.
inline constexpr std::uint64_t kBlobAlignment = 64;

// Returns the offset of each blob in the file, and after them the length of the file.
std::vector<std::uint64_t> blob_offsets(const Manifest& manifest, std::uint64_t module_bytes);

// Checks the length of a file: it contains either the contents of all blobs or those of none. Returns whether it
// contains them.
Result<bool> has_blobs(const Manifest& manifest, std::uint64_t module_bytes, std::uint64_t file_bytes);

}  // namespace ferry
