// A GPU driven through the CUDA driver. Its memory is identified by the driver's addresses, which this process cannot
// dereference. All operations of the session go through one stream, in order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device-runtime/cuda/cuda_api.h"
#include "device-runtime/cuda/cuda_staging.h"
#include "device-runtime/cuda/nvml.h"
#include "device-runtime/device/device.h"
#include "device-runtime/device/memory_budget.h"

namespace ferry::device {

// The device's address of its memory.
inline CuDevicePointer address(const void* memory, std::uint64_t offset = 0) {
  return reinterpret_cast<std::uintptr_t>(memory) + offset;
}

// A 64-bit number as the format %llu takes it, on every architecture.
inline unsigned long long number(std::uint64_t value) { return value; }

// Returns all GPUs, in the driver's order. Their names end with the architecture: "NVIDIA H100 PCIe (sm_90)". A failure
// says why there are none.
Result<std::vector<ComputeDevice>> list_cuda_devices(const Drivers& drivers);

class CudaDevice final : public Device {
 public:
  // Fails with not_found, with the number of devices, if there is no device with that index. memory_limit limits the
  // GPU's own memory, which does not count towards the session's limit.
  static Result<std::unique_ptr<CudaDevice>> open(const Drivers& drivers, std::size_t index,
                                                  std::uint64_t memory_limit = UINT64_MAX);
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice() override;

  ComputeDevice describe() const override { return description_; }
  Result<void*> allocate(std::uint64_t bytes) override;
  void release(void* memory, std::uint64_t bytes) override;
  Status write(void* memory, std::uint64_t offset, std::span<const std::uint8_t> from) override;
  Status read(void* memory, std::uint64_t offset, std::span<std::uint8_t> into) override;
  Status write_pieces(void* memory, std::uint64_t offset, std::uint64_t bytes, const FillPiece& fill) override;
  Status read_pieces(void* memory, std::uint64_t offset, std::uint64_t bytes, const TakePiece& take) override;
  Status copy(void* destination, std::uint64_t destination_offset, void* source, std::uint64_t source_offset,
              std::uint64_t bytes) override;
  Result<std::unique_ptr<Program>> load(const ModuleFile& module, const Hash& hash) override;
  Result<std::uint64_t> prepare_wiping() override;
  void wipe_caches() override;
  // Supports NVML's names and those of cuda_device.cpp, such as architecture, driver, multiprocessors and l2_bytes.
  std::string watched_text(const std::string& name) override;

  const CudaApi& api() const { return api_; }
  CuStream stream() const { return stream_; }
  MemoryBudget& memory() { return memory_; }
  // The compute capability: 90 for sm_90.
  unsigned architecture() const { return architecture_; }
  int attribute(int what) const;

 private:
  CudaDevice(const CudaApi& api, CuDevice device, ComputeDevice description, std::uint64_t memory_limit);
  Status start(const Drivers& drivers);

  CudaApi api_;
  CuDevice device_;
  ComputeDevice description_;
  MemoryBudget memory_;
  unsigned architecture_ = 0;
  CuContext context_ = nullptr;
  CuStream stream_ = nullptr;
  std::unique_ptr<CudaStaging> staging_;
  Nvml nvml_;
  CuDevicePointer wiped_ = 0;
  std::size_t wiped_bytes_ = 0;
};

}  // namespace ferry::device
