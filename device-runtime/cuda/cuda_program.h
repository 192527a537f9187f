// A module's kernels in the driver, and its plans.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device-runtime/cuda/cuda_device.h"
#include "device-runtime/device/plan_call.h"

namespace ferry::device {

// unsupported when no image fits the GPU or the driver is too old for it; invalid_argument with the assembler's words
// when PTX does not assemble.
Result<std::unique_ptr<Program>> load_cuda_program(const ModuleFile& module, CudaDevice& device);

// A kernel that may be launched, and what the driver says of it.
struct CudaKernel {
  CuFunction function = nullptr;
  int max_threads = 0;      // a block, as its registers allow
  int registers = 0;        // a thread
  int shared_bytes = 0;     // that it declares itself
  int dynamic_allowed = 0;  // shared bytes beyond those that a launch may have so far
};

class CudaProgram final : public Program {
 public:
  CudaProgram(CudaDevice& device, CuModule module, std::vector<FunctionInfo> functions)
      : device_(device), module_(module), functions_(std::move(functions)) {}
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;
  ~CudaProgram() override { device_.api().module_unload(module_); }

  Result<std::unique_ptr<Workload>> prepare(std::size_t function, std::span<const DeviceArgument> arguments,
                                            const BoundCall& bound) override;

  // Ready for this launch; a refusal says by how much it is beyond what the GPU takes.
  Result<CudaKernel> kernel_for(const FunctionInfo& function, const BoundLaunch& launch);

 private:
  Result<CudaKernel*> find(const FunctionInfo& function, const std::string& name);

  CudaDevice& device_;
  CuModule module_;
  std::vector<FunctionInfo> functions_;
  std::map<std::string, CudaKernel> kernels_;
};

}  // namespace ferry::device
