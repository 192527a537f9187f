// Tensor memory that detects out-of-bounds accesses of kernels: each block ends at an inaccessible page, another such
// page precedes it, and the rest of its own pages is filled with a pattern that kernels must not change.
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

  // Returns how much of a session's budget a block of this size takes: whole pages.
  static std::uint64_t cost(std::uint64_t bytes);

  // Returns zeroed memory aligned to 64 bytes; null if there is none. Requires bytes > 0.
  void* take(std::uint64_t bytes);
  // Releases the memory and returns true if it was allocated here.
  bool give_back(void* memory);
  // Returns the first block around which bytes have changed.
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
