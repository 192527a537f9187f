// Limits of one session, apart from memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ferry::device {

inline constexpr std::uint64_t kMaxModuleBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kMaxModules = 4096;
// Total size of module files that wait to be stored on disk.
inline constexpr std::size_t kMaxUnstoredBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxBuffers = 65536;
inline constexpr std::size_t kMaxInstances = 4096;
inline constexpr std::size_t kMaxPersistentBuffers = 65536;  // all instances together

}  // namespace ferry::device
