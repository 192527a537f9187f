// A module's kernels, loaded by the driver, and its plans.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device-runtime/cuda/cuda_device.h"
#include "device-runtime/device/plan_call.h"

namespace ferry::device {

// Fails with unsupported if no image fits the GPU or the driver is too old for it, and with invalid_argument and the
// assembler's message if PTX does not assemble.
Result<std::unique_ptr<Program>> load_cuda_program(const ModuleFile& module, CudaDevice& device);

// A kernel that can be launched, and its attributes as the driver reports them.
struct CudaKernel {
  CuFunction function = nullptr;
  int max_threads = 0;      // per block, given its registers
  int registers = 0;        // per thread
  int shared_bytes = 0;     // that it declares itself
  int dynamic_allowed = 0;  // limit of dynamic shared memory set so far
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

  // Prepares the kernel for this launch. A refusal says which limit of the GPU the launch exceeds, and by how much.
  Result<CudaKernel> kernel_for(const FunctionInfo& function, const BoundLaunch& launch);

 private:
  Result<CudaKernel*> find(const FunctionInfo& function, const std::string& name);

  CudaDevice& device_;
  CuModule module_;
  std::vector<FunctionInfo> functions_;
  std::map<std::string, CudaKernel> kernels_;
};

}  // namespace ferry::device
