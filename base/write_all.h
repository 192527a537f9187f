// Writes to a file without losing what the system did not write at once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ferry {

// Returns false, with the reason in errno, if not all of it can be written; the file may then have a part of it.
bool write_all(int file, std::span<const std::uint8_t> bytes);
bool write_all(int file, std::string_view text);

}  // namespace ferry
