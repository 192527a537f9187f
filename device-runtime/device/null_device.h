// A device that stores data and runs nothing: the smallest real device, used in tests of the layers above devices, and
// a template for new ones.
#pragma once

#include "device-runtime/device/device.h"
#include "device-runtime/device/memory_budget.h"

namespace ferry::device {

class NullDevice final : public Device {
 public:
  explicit NullDevice(MemoryBudget& budget) : budget_(budget) {}

  ComputeDevice describe() const override { return {"null", "keeps data and runs nothing", budget_.limit()}; }
  Result<void*> allocate(std::uint64_t bytes) override;
  void release(void* memory, std::uint64_t bytes) override;
  std::uint8_t* host_address(void* memory) override { return static_cast<std::uint8_t*>(memory); }
  bool uses_host_memory() const override { return true; }
  Status copy(void* destination, std::uint64_t destination_offset, void* source, std::uint64_t source_offset,
              std::uint64_t bytes) override;
  // Any module loads; its calls return 0 and access nothing.
  Result<std::unique_ptr<Program>> load(const ModuleFile& module, const Hash& hash) override;

 private:
  MemoryBudget& budget_;
};

}  // namespace ferry::device
