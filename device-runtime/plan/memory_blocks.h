// Memory of a device for the workspaces of a call or the persistent buffers of an instance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device-runtime/plan/bind_plan.h"

namespace ferry::device {

// The device must outlive it.
class MemoryBlocks {
 public:
  explicit MemoryBlocks(Device& device) : device_(&device) {}
  MemoryBlocks(MemoryBlocks&& other) noexcept : device_(other.device_), blocks_(std::move(other.blocks_)) {}
  MemoryBlocks& operator=(MemoryBlocks&&) = delete;
  ~MemoryBlocks();

  Status add(std::uint64_t bytes);
  std::span<const MemoryBlock> blocks() const { return blocks_; }

 private:
  Device* device_;
  std::vector<MemoryBlock> blocks_;
};

// Allocates the persistent buffers of an instance that is bound with these values of the symbols.
Result<MemoryBlocks> allocate_persistent(Device& device, const FunctionInfo& function,
                                         std::span<const std::int64_t> symbols);

}  // namespace ferry::device
