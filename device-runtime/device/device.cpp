#include "device-runtime/device/device.h"

#include <cstring>

namespace ferry::device {

Status Device::write(void* memory, std::uint64_t offset, std::span<const std::uint8_t> from) {
  if (!from.empty()) std::memcpy(host_address(memory) + offset, from.data(), from.size());
  return {};
}

Status Device::read(void* memory, std::uint64_t offset, std::span<std::uint8_t> into) {
  if (!into.empty()) std::memcpy(into.data(), host_address(memory) + offset, into.size());
  return {};
}

}  // namespace ferry::device
