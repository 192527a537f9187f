#include "device-runtime/plan/constant_memory.h"

#include "device-runtime/device/mapped_pages.h"

namespace ferry::device {

Status ConstantMemory::add(std::size_t constant, std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner,
                           bool is_mapped_file) {
  MemoryBlock& block = blocks_[constant];
  if (!copies(constant)) {
    may_be_dropped_[constant] = is_mapped_file;
    // Steps may not write to constants, and these pages are read-only.
    block = {const_cast<std::uint8_t*>(bytes.data()), bytes.size(), block.device};
    owners_.push_back(std::move(owner));
    return {};
  }
  FERRY_TRY(copies_.add(block.device, bytes.size()));
  block = copies_.blocks().back();
  return devices_[block.device]->write(block.memory, 0, bytes);
}

void ConstantMemory::drop_pages(std::size_t constant) const {
  if (may_be_dropped_[constant]) drop_mapped_pages(blocks_[constant].memory, blocks_[constant].bytes);
}

}  // namespace ferry::device
