// Takes memory out of the processor's caches: line by line where a program may do that (x86-64, 64-bit ARM), otherwise
// by walking through memory that is larger than they are.
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
  // largest_cache_bytes: what must be walked through twice over; 0: unknown, and 16 MiB are taken for it.
  explicit ColdCache(std::uint64_t largest_cache_bytes);
  // Whether there was memory for it.
  bool is_ready() const;
  // How much memory is walked through; 0: lines are flushed.
  std::uint64_t wiped_bytes() const { return wipe_bytes_; }
  void cool(std::span<const MemoryRange> ranges);

 private:
  std::uint64_t wipe_bytes_ = 0;
  std::unique_ptr<std::uint8_t[]> wiper_;
};

}  // namespace ferry::device
