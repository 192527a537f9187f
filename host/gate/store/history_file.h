// The file of a suite's history.
#pragma once

#include <cstdint>
#include <string>

namespace ferry::gate {

inline constexpr std::uint64_t kMostHistoryBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMostLineBytes = std::uint64_t{8} << 20;  // a module with all its blobs takes half of it

// Adds whole lines, or nothing if it throws StoreFailed. If the file would become too large, its oldest quarter goes.
// Needs the lock of the store.
void append_history(const std::string& path, std::string lines);

// Returns the file's text, without its beginning if it is too large.
std::string read_history(const std::string& path);

}  // namespace ferry::gate
