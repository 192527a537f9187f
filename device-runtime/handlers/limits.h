// What one session may ask for at most, apart from memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ferry::device {

inline constexpr std::uint64_t kMaxModuleBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kMaxModules = 4096;
inline constexpr std::size_t kMaxBuffers = 65536;

}  // namespace ferry::device
