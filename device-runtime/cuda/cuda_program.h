// A module's kernels, loaded by the driver.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "device-runtime/cuda/cuda_device.h"

namespace ferry::device {

// Fails with unsupported if no image fits the GPU or the driver is too old for it, and with invalid_argument and the
// assembler's message if PTX does not assemble.
Result<std::unique_ptr<Program>> load_cuda_program(const ModuleFile& module, CudaDevice& device);

// A kernel that can be launched, and its attributes as the driver reports them.
struct CudaKernel {
  CuFunction function = nullptr;
  int max_threads = 0;      // per block, given its registers
  int registers = 0;        // per thread
  int shared_bytes = 0;     // what it declares itself
  int dynamic_allowed = 0;  // limit of dynamic shared memory set so far
};

class CudaProgram final : public Program {
 public:
  CudaProgram(CudaDevice& device, CuModule module) : device_(device), module_(module) {}
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;
  ~CudaProgram() override { device_.api().module_unload(module_); }

  Result<std::unique_ptr<Stream>> open_stream(const FunctionInfo& function) override;

  // Prepares the kernel for this launch. A refusal says which limit of the GPU the launch exceeds, and by how much.
  Result<CudaKernel> kernel_for(const FunctionInfo& function, const BoundLaunch& launch);

 private:
  Result<CudaKernel*> find(const FunctionInfo& function, const std::string& name);

  CudaDevice& device_;
  CuModule module_;
  std::map<std::string, CudaKernel> kernels_;
};

}  // namespace ferry::device
