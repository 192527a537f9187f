// Empties the caches before calls that are measured with cold caches.
#pragma once

#include <span>
#include <vector>

#include "device-runtime/handlers/call_arguments.h"
#include "device-runtime/measure/cold_cache.h"

namespace ferry::device {

class ColdCalls {
 public:
  explicit ColdCalls(const DeviceFacts& facts);
  // Adds a call, which must outlive this. Fails with resource_exhausted without the memory to wipe caches with.
  // `persistent` are the persistent buffers that it reads.
  Status add(const CheckedCall& call, std::span<const MemoryBlock> persistent);
  // Size of the memory that empty_caches() walks through at most; 0: lines are flushed instead.
  std::uint64_t wiped_bytes() const { return wiped_bytes_; }
  // Empties the caches that may hold the arguments of a call: those of its devices that have their own, and the
  // processor's if another one runs it. Calls are numbered in the order in which they were added.
  void empty_caches(std::size_t call);

 private:
  struct Call {
    std::vector<Device*> wiped;  // those that have caches of their own
    bool uses_processor = false;
    std::vector<MemoryRange> memory;  // the arguments and persistent buffers that this process can access
  };

  ColdCache cold_;
  std::uint64_t wiped_bytes_ = 0;
  std::vector<Call> calls_;
};

}  // namespace ferry::device
