// What one session may ask for at most, apart from memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ferry::device {

inline constexpr std::uint64_t kMaxModuleBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kMaxModules = 4096;
// Of module files that wait to be kept on disk.
inline constexpr std::size_t kMaxUnstoredBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxBuffers = 65536;

}  // namespace ferry::device
