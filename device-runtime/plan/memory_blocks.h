// Memory of a module's devices for the workspaces of a call or the persistent buffers of an instance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device-runtime/plan/bind_plan.h"

namespace ferry::device {

// The devices, and what lists them, must outlive it.
class MemoryBlocks {
 public:
  explicit MemoryBlocks(std::span<Device* const> devices) : devices_(devices) {}
  MemoryBlocks(MemoryBlocks&& other) noexcept : devices_(other.devices_), blocks_(std::move(other.blocks_)) {}
  MemoryBlocks& operator=(MemoryBlocks&&) = delete;
  ~MemoryBlocks();

  Status add(std::uint32_t device, std::uint64_t bytes);
  Status add_persistent(std::uint32_t device, std::uint64_t bytes);
  std::span<const MemoryBlock> blocks() const { return blocks_; }

 private:
  Status add(std::uint32_t device, std::uint64_t bytes, const Result<void*>& memory);

  std::span<Device* const> devices_;
  std::vector<MemoryBlock> blocks_;
};

// Allocates the persistent buffers of an instance that is bound with these values of the symbols.
Result<MemoryBlocks> allocate_persistent(std::span<Device* const> devices, const FunctionInfo& function,
                                         std::span<const std::int64_t> symbols);

}  // namespace ferry::device
