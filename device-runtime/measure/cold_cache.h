// Evicts memory from the processor's caches: line by line where user programs can do that (x86-64, 64-bit ARM),
// otherwise by walking through memory that is larger than the caches.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ferry::device {

struct MemoryRange {
  const void* begin = nullptr;
  std::uint64_t bytes = 0;
};

class ColdCache {
 public:
  // The walk covers twice largest_cache_bytes; 0: unknown, and 16 MiB are assumed.
  explicit ColdCache(std::uint64_t largest_cache_bytes);
  // Returns whether the memory for the walk could be allocated.
  bool is_ready() const;
  // Size of the memory that is walked through; 0: lines are flushed instead.
  std::uint64_t wiped_bytes() const { return wipe_bytes_; }
  void cool(std::span<const MemoryRange> ranges);

 private:
  std::uint64_t wipe_bytes_ = 0;
  std::unique_ptr<std::uint8_t[]> wiper_;
};

}  // namespace ferry::device
