#include "device-runtime/device/null_device.h"

#include <cstring>

#include "device-runtime/device/host_memory.h"

namespace ferry::device {
namespace {

class NullStream final : public Stream {
 public:
  Status add(BoundNativeCall call) override { return add_named(StepKind::call, *call.symbol); }
  Status add(BoundLaunch launch) override { return add_named(StepKind::launch, launch.kernel); }
  Status add(BoundCopy) override { return add_named(StepKind::copy, ""); }
  Status add(BoundFill) override { return add_named(StepKind::fill, ""); }
  std::int32_t set(std::size_t, std::size_t, std::uint64_t) override { return 0; }
  StepTime describe(std::size_t step) const override { return steps_[step]; }
  std::int32_t run(std::size_t, bool) override { return 0; }

 private:
  Status add_named(StepKind kind, const std::string& name) {
    steps_.emplace_back();
    steps_.back().kind = kind;
    steps_.back().kernel = name;
    return {};
  }

  std::vector<StepTime> steps_;
};

class NullProgram final : public Program {
 public:
  Result<std::unique_ptr<Stream>> open_stream(const FunctionInfo&) override {
    return std::unique_ptr<Stream>(std::make_unique<NullStream>());
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
