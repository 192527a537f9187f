// Files that are mapped into memory to be read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ferry {

struct MappedFile {
  std::span<const std::uint8_t> bytes;
  std::shared_ptr<const void> mapping;  // keeps the bytes in memory
};

// Maps a whole file. Throws UsageError that says why it cannot be read; empty files and all but regular ones cannot.
MappedFile map_file(const std::string& path);

}  // namespace ferry
