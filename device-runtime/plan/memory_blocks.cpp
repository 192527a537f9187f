#include "device-runtime/plan/memory_blocks.h"

namespace ferry::device {

MemoryBlocks::~MemoryBlocks() {
  for (const MemoryBlock& block : blocks_) devices_[block.device]->release(block.memory, block.bytes);
}

Status MemoryBlocks::add(std::uint32_t device, std::uint64_t bytes) {
  return add(device, bytes, devices_[device]->allocate(bytes));
}

Status MemoryBlocks::add_persistent(std::uint32_t device, std::uint64_t bytes) {
  return add(device, bytes, devices_[device]->allocate_persistent(bytes));
}

Status MemoryBlocks::add(std::uint32_t device, std::uint64_t bytes, const Result<void*>& memory) {
  FERRY_TRY(memory.status());
  blocks_.push_back({memory.value(), bytes, device});
  return {};
}

Result<MemoryBlocks> allocate_persistent(std::span<Device* const> devices, const FunctionInfo& function,
                                         std::span<const std::int64_t> symbols) {
  FERRY_ASSIGN(const std::vector<std::int64_t> values, evaluate_values(function, function.init, symbols));
  MemoryBlocks memory(devices);
  for (const PersistentBuffer& buffer : function.persistent) {
    FERRY_ASSIGN(const std::uint64_t bytes, size_of(function, values, buffer.bytes));
    FERRY_TRY(memory.add_persistent(buffer.device, bytes));
  }
  return memory;
}

}  // namespace ferry::device
