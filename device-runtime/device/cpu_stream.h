// Runs the steps of a plan in this process, each as it is asked for.
#pragma once

#include <string>
#include <vector>

#include "device-runtime/device/device.h"
#include "device-runtime/device/kernel_context.h"
#include "ferry/runtime_api.h"

namespace ferry::device {

struct CpuKernel {
  std::string symbol;
  ferry_kernel kernel = nullptr;
};
// Sorted by their symbols.
using CpuKernels = std::vector<CpuKernel>;

// Returns null if there is none.
const CpuKernel* find_kernel(const CpuKernels& kernels, const std::string& symbol);

class CpuStream final : public Stream {
 public:
  // The kernels must contain the symbol of every call.
  CpuStream(const CpuKernels& kernels, Device& device, const KernelContext& context)
      : kernels_(kernels), device_(device), context_(context) {}
  CpuStream(const CpuStream&) = delete;
  CpuStream& operator=(const CpuStream&) = delete;
  ~CpuStream() override { device_.release(thread_workspaces_, thread_workspaces_bytes_); }

  Status add(BoundNativeCall call) override;
  Status add(BoundLaunch launch) override;
  Status add(BoundCopy copy) override;
  Status add(BoundFill fill) override;
  std::int32_t set(std::size_t step, std::size_t operand, std::uint64_t to) override;
  StepTime describe(std::size_t step) const override;
  std::int32_t run(std::size_t step, bool traced) override;
  Outcome run_all(std::size_t steps, std::uint64_t times, bool traced) override;
  bool may_stay_open() const override { return true; }

 private:
  // A call; without a kernel, a copy if it has a source, otherwise a fill.
  struct BoundStep {
    const CpuKernel* kernel = nullptr;
    std::uint8_t* workspace = nullptr;
    std::vector<BoundOperand> operands;
    std::vector<void*> pointers;  // to memory or into `operands`
    void* from = nullptr;
    BoundFill fill;
  };

  Status grow_thread_workspaces(std::uint64_t bytes);

  const CpuKernels& kernels_;
  Device& device_;
  KernelContext context_;
  std::vector<BoundStep> steps_;
  void* thread_workspaces_ = nullptr;
  std::uint64_t thread_workspaces_bytes_ = 0;
};

}  // namespace ferry::device
