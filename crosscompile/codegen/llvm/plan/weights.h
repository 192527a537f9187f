// The constants of an exported function, one after another as they are exported: their blobs in the manifest's order,
// each at the next multiple of kMemoryAlignment, as is the end.
#pragma once

#include "module/manifest.h"

#include <cstdint>
#include <span>
#include <vector>

namespace ferry::codegen {

// Returns where each blob begins, and at the end how many bytes they all take.
std::vector<std::uint64_t> blob_places(const Manifest& manifest);

// A sum over words of 64 bits, little-endian, that any change of one of them changes. Exported code computes the same
// (runtime_text.cpp). The number of bytes is a multiple of 8.
std::uint64_t checksum(std::span<const std::uint8_t> bytes);

}  // namespace ferry::codegen
