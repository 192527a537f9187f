#include "device-runtime/handlers/cold_calls.h"

#include <algorithm>

namespace ferry::device {
namespace {

std::uint64_t largest_cache(const DeviceFacts& facts) {
  std::uint64_t most = 0;
  for (const CacheFacts& cache : facts.caches) most = std::max(most, cache.bytes);
  return most;
}

}  // namespace

ColdCalls::ColdCalls(const DeviceFacts& facts) : cold_(largest_cache(facts)), wiped_bytes_(cold_.wiped_bytes()) {}

Status ColdCalls::add(const CheckedCall& call, std::span<const MemoryBlock> persistent) {
  if (!cold_.is_ready()) return {ErrorCode::resource_exhausted, "measure: no memory to wipe the caches with"};
  const std::vector<Device*>& devices = call.module->devices;
  Call& added = calls_.emplace_back();
  for (Device* device : devices) {
    FERRY_ASSIGN(const std::uint64_t wiped, device->prepare_wiping());
    wiped_bytes_ = std::max(wiped_bytes_, wiped);
    if (wiped != 0) added.wiped.push_back(device);
    added.uses_processor = added.uses_processor || wiped == 0;
  }
  const auto add = [&](std::uint32_t device, void* memory, std::uint64_t bytes) {
    const void* address = devices[device]->host_address(memory);
    if (address != nullptr) added.memory.push_back({address, bytes});
  };
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (!call.arguments[i].is_scalar)
      add(call.info().parameters[i].device, call.arguments[i].memory, call.bound.tensor_bytes[i]);
  }
  for (const MemoryBlock& block : persistent) add(block.device, block.memory, block.bytes);
  return {};
}

void ColdCalls::empty_caches(std::size_t call) {
  const Call& cold = calls_[call];
  for (Device* device : cold.wiped) device->wipe_caches();
  if (cold.uses_processor) cold_.cool(cold.memory);
}

}  // namespace ferry::device
