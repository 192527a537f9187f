#include "device-runtime/plan/memory_blocks.h"

namespace ferry::device {

MemoryBlocks::~MemoryBlocks() {
  for (const MemoryBlock& block : blocks_) device_->release(block.memory, block.bytes);
}

Status MemoryBlocks::add(std::uint64_t bytes) {
  blocks_.push_back({nullptr, 0});
  FERRY_ASSIGN(void* const memory, device_->allocate(bytes));
  blocks_.back() = {memory, bytes};
  return {};
}

Result<MemoryBlocks> allocate_persistent(Device& device, const FunctionInfo& function,
                                         std::span<const std::int64_t> symbols) {
  FERRY_ASSIGN(const std::vector<std::int64_t> values, evaluate_values(function, function.init, symbols));
  MemoryBlocks memory(device);
  for (const PersistentBuffer& buffer : function.persistent) {
    FERRY_ASSIGN(const std::uint64_t bytes, size_of(function, values, buffer.bytes));
    FERRY_TRY(memory.add(bytes));
  }
  return memory;
}

}  // namespace ferry::device
