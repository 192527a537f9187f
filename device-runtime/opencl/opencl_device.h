// An OpenCL device: a GPU, or a CPU through PoCL. OpenCL memory has no address in this process, so each buffer gets a
// range of numbers that serve as addresses; a position inside a buffer is then a number as well.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device-runtime/device/device.h"
#include "device-runtime/device/memory_budget.h"
#include "device-runtime/opencl/opencl_api.h"

namespace ferry::device {

// Returns all devices of all platforms, in order. A failure says why there are none.
Result<std::vector<ComputeDevice>> list_opencl_devices(const Drivers& drivers);

class OpenClDevice final : public Device {
 public:
  // Fails with not_found, with the number of devices, if there is no device with that index.
  static Result<std::unique_ptr<OpenClDevice>> open(const Drivers& drivers, std::size_t index, MemoryBudget& budget);
  OpenClDevice(const OpenClDevice&) = delete;
  OpenClDevice& operator=(const OpenClDevice&) = delete;
  ~OpenClDevice() override;

  ComputeDevice describe() const override { return description_; }
  Result<void*> allocate(std::uint64_t bytes) override;
  void release(void* memory, std::uint64_t bytes) override;
  Status write(void* memory, std::uint64_t offset, std::span<const std::uint8_t> from) override;
  Status read(void* memory, std::uint64_t offset, std::span<std::uint8_t> into) override;
  Status copy(void* destination, std::uint64_t destination_offset, void* source, std::uint64_t source_offset,
              std::uint64_t bytes) override;
  Result<std::unique_ptr<Program>> load(const ModuleFile& module, const Hash& hash) override;
  Result<std::uint64_t> prepare_wiping() override;
  void wipe_caches() override;

  const OpenClApi& api() const { return api_; }
  cl_context context() const { return context_; }
  cl_command_queue queue() const { return queue_; }
  cl_device_id id() const { return device_; }

  struct Place {
    cl_mem buffer = nullptr;
    std::size_t offset = 0;
    std::size_t bytes = 0;  // size of the whole buffer
  };
  // Finds the buffer and the offset of an address that allocate() returned, or of one inside its range.
  Place find(void* memory) const;

  // Returns the result of clGetDeviceInfo as a number; 0 if the query fails.
  template <class T>
  T info(cl_device_info what) const {
    T value{};
    return api_.clGetDeviceInfo(device_, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : T{};
  }

  // Supports CUDA's names where OpenCL has an equivalent (PROTOCOL.md, evaluate).
  std::string watched_text(const std::string& name) override;

 private:
  OpenClDevice(const OpenClApi& api, MemoryBudget& budget) : api_(api), budget_(budget) {}

  Status out_of_memory(std::uint64_t bytes, cl_int error) const;

  struct Block {
    cl_mem buffer;
    std::size_t bytes;
  };

  const OpenClApi api_;
  MemoryBudget& budget_;
  ComputeDevice description_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_mem wiped_ = nullptr;
  std::size_t wiped_bytes_ = 0;
  std::map<std::uintptr_t, Block> blocks_;  // by first address
  std::uintptr_t next_ = std::uintptr_t{1} << 20;
};

}  // namespace ferry::device
