// The file of a suite's history.
#pragma once

#include <cstdint>
#include <string>

namespace ferry::gate {

inline constexpr std::uint64_t kMostHistoryBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMostLineBytes = std::uint64_t{8} << 20;  // a module with all its blobs takes half of it

// Adds whole lines, or nothing if it throws StoreFailed. If the file would exceed `most` bytes, the latest three
// quarters of these stay. Needs the lock of the store, held alone.
void append_history(const std::string& path, std::string lines, std::uint64_t most = kMostHistoryBytes);

// Returns the whole lines among the last `most` bytes of the file.
std::string read_history(const std::string& path, std::uint64_t most = kMostHistoryBytes);

}  // namespace ferry::gate
