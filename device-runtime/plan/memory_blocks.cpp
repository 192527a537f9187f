#include "device-runtime/plan/memory_blocks.h"

namespace ferry::device {

MemoryBlocks::~MemoryBlocks() {
  for (const MemoryBlock& block : blocks_) devices_[block.device]->release(block.memory, block.bytes);
}

Status MemoryBlocks::add(std::uint32_t device, std::uint64_t bytes) {
  blocks_.push_back({nullptr, 0, device});
  FERRY_ASSIGN(void* const memory, devices_[device]->allocate(bytes));
  blocks_.back() = {memory, bytes, device};
  return {};
}

Result<MemoryBlocks> allocate_persistent(std::span<Device* const> devices, const FunctionInfo& function,
                                         std::span<const std::int64_t> symbols) {
  FERRY_ASSIGN(const std::vector<std::int64_t> values, evaluate_values(function, function.init, symbols));
  MemoryBlocks memory(devices);
  for (const PersistentBuffer& buffer : function.persistent) {
    FERRY_ASSIGN(const std::uint64_t bytes, size_of(function, values, buffer.bytes));
    FERRY_TRY(memory.add(buffer.device, bytes));
  }
  return memory;
}

}  // namespace ferry::device
