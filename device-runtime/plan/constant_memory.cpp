#include "device-runtime/plan/constant_memory.h"

namespace ferry::device {

Status ConstantMemory::add(std::size_t constant, std::span<const std::uint8_t> bytes,
                           std::shared_ptr<const void> owner) {
  if (device_.uses_host_memory()) {
    // Steps may not write to constants, and these pages are read-only.
    blocks_[constant] = {const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
    owners_.push_back(std::move(owner));
    return {};
  }
  FERRY_TRY(copies_.add(bytes.size()));
  blocks_[constant] = copies_.blocks().back();
  return device_.write(blocks_[constant].memory, 0, bytes);
}

}  // namespace ferry::device
