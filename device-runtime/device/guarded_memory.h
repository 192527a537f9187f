// Tensor memory that tells whether a kernel has left it: each block ends at a page that nothing may touch, another one
// lies before it, and what is left of its own pages is filled with bytes that a kernel has no business to change.
#pragma once

#include <cstdint>
#include <vector>

#include "device-runtime/device/device.h"

namespace ferry::device {

class GuardedMemory {
 public:
  GuardedMemory() = default;
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory();

  // How much of a session's budget so many bytes take: whole pages.
  static std::uint64_t cost(std::uint64_t bytes);

  // Zeroed and aligned to 64 bytes; null when there is no memory. bytes > 0.
  void* take(std::uint64_t bytes);
  // Whether it was from here.
  bool give_back(void* memory);
  // The first block with changed bytes around it.
  MemoryDamage damage() const;

 private:
  // A mapping with a guard page at both ends.
  struct Block {
    std::uint8_t* mapping;
    std::size_t mapping_bytes;
    std::uint8_t* memory;
    std::size_t bytes;
  };
  std::vector<Block> blocks_;
};

}  // namespace ferry::device
