// The checksum of PNG and ZIP files.
#pragma once

#include <cstdint>
#include <span>

namespace ferry::media {

// CRC-32 (ISO 3309).
std::uint32_t checksum_of(std::span<const std::uint8_t> bytes);

}  // namespace ferry::media
