#include "device-runtime/device/null_device.h"

#include <cstring>

#include "device-runtime/device/host_memory.h"

namespace ferry::device {
namespace {

class NullCall final : public Workload {
 public:
  std::int32_t run() override { return 0; }
};

class NullProgram final : public Program {
 public:
  Result<std::unique_ptr<Workload>> prepare(std::size_t, std::span<const DeviceArgument>, const BoundCall&) override {
    return std::unique_ptr<Workload>(std::make_unique<NullCall>());
  }
};

}  // namespace

Result<void*> NullDevice::allocate(std::uint64_t bytes) {
  if (bytes == 0) return static_cast<void*>(nullptr);
  FERRY_TRY(budget_.take(bytes));
  void* memory = take_host_memory(bytes);
  if (memory == nullptr) {
    budget_.give_back(bytes);
    return Status(ErrorCode::resource_exhausted, "the system has no memory left");
  }
  return memory;
}

void NullDevice::release(void* memory, std::uint64_t bytes) {
  if (memory == nullptr) return;
  return_host_memory(memory, bytes);
  budget_.give_back(bytes);
}

Status NullDevice::copy(void* destination, std::uint64_t destination_offset, void* source, std::uint64_t source_offset,
                        std::uint64_t bytes) {
  if (bytes != 0) {
    std::memmove(host_address(destination) + destination_offset, host_address(source) + source_offset, bytes);
  }
  return {};
}

Result<std::unique_ptr<Program>> NullDevice::load(const ModuleFile&, const Hash&) {
  return std::unique_ptr<Program>(std::make_unique<NullProgram>());
}

}  // namespace ferry::device
