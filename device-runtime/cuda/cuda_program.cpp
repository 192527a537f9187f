#include "device-runtime/cuda/cuda_program.h"

#include <algorithm>
#include <cstring>

#include "base/format.h"
#include "device-runtime/cuda/cuda_image.h"
#include "device-runtime/cuda/cuda_stream.h"

namespace ferry::device {
namespace {

constexpr std::size_t kMaxLog = 8 << 10;
// Shared memory that a kernel may use without opting in to more.
constexpr int kPlainSharedBytes = 48 << 10;

Status refuse(ErrorCode code, const FunctionInfo& function, const BoundLaunch& launch, const std::string& what) {
  return {code, function.name + ": kernel '" + launch.kernel + "': " + what};
}

// Returns the operand of ".version" in PTX.
std::string ptx_version(const std::string& text) {
  const std::size_t at = text.find(".version ");
  if (at == std::string::npos) return "unknown";
  return text.substr(at + 9, text.find_first_of(" \t\r\n", at + 9) - at - 9);
}

Status load_failure(const CudaDevice& device, const CodeImage& image, const std::string& text, CuResult error,
                    const std::string& log) {
  const CudaApi& api = device.api();
  const unsigned major = static_cast<unsigned>(api.version) / 1000,
                 minor = static_cast<unsigned>(api.version) % 1000 / 10;
  if (error == kCuUnsupportedPtxVersion) {
    return {ErrorCode::unsupported,
            format("this machine's CUDA driver supports CUDA %u.%u, which is older than the module's PTX (version %s): "
                   "update NVIDIA's driver, or compile to machine code with --target 'cuda -arch=sm_%u'",
                   major, minor, ptx_version(text).c_str(), device.architecture())};
  }
  if (error == kCuNoBinaryForGpu || error == kCuInvalidImage) {
    return {
        ErrorCode::unsupported,
        format("this machine's CUDA driver does not take the module's %s: %s; it supports CUDA %u.%u: update NVIDIA's "
               "driver, or compile with a CUDA that is not newer",
               image.name().c_str(), cuda_error_text(api, error).c_str(), major, minor)};
  }
  if (error == kCuInvalidPtx || error == kCuInvalidSource) {
    return {ErrorCode::invalid_argument, "the driver's assembler refuses the module's PTX:\n" + log};
  }
  return cuda_failure(api, "cuModuleLoadDataEx", error);
}

}  // namespace

Result<CudaKernel*> CudaProgram::find(const FunctionInfo& function, const std::string& name) {
  if (const auto known = kernels_.find(name); known != kernels_.end()) return &known->second;
  const CudaApi& api = device_.api();
  CudaKernel kernel;
  const CuResult error = api.module_function(&kernel.function, module_, name.c_str());
  if (error == kCuNotFound) {
    return Status(ErrorCode::invalid_argument, function.name + ": its plan launches the kernel '" + name +
                                                   "', which the module's code does not have");
  }
  if (error != kCuSuccess) return cuda_failure(api, "cuModuleGetFunction", error);
  api.function_attribute(&kernel.max_threads, kCuFuncMaxThreadsPerBlock, kernel.function);
  api.function_attribute(&kernel.registers, kCuFuncNumRegs, kernel.function);
  api.function_attribute(&kernel.shared_bytes, kCuFuncSharedSizeBytes, kernel.function);
  kernel.dynamic_allowed = std::max(kPlainSharedBytes - kernel.shared_bytes, 0);
  return &kernels_.emplace(name, kernel).first->second;
}

Result<CudaKernel> CudaProgram::kernel_for(const FunctionInfo& function, const BoundLaunch& launch) {
  FERRY_ASSIGN(CudaKernel* const kernel, find(function, launch.kernel));
  const CudaApi& api = device_.api();
  std::uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint64_t grid = launch.grid[static_cast<std::size_t>(axis)];
    const std::uint64_t block = launch.block[static_cast<std::size_t>(axis)];
    const auto most_grid = static_cast<std::uint64_t>(device_.attribute(kCuMaxGridDimX + axis));
    const auto most_block = static_cast<std::uint64_t>(device_.attribute(kCuMaxBlockDimX + axis));
    if (grid > most_grid) {
      return refuse(ErrorCode::unsupported, function, launch,
                    format("a grid of %llu blocks along %c; this GPU takes at most %llu there: use larger blocks, or "
                           "bind the loop to blockIdx.x",
                           number(grid), "xyz"[axis], number(most_grid)));
    }
    if (block > most_block) {
      return refuse(ErrorCode::unsupported, function, launch,
                    format("a block of %llu threads along %c; this GPU takes at most %llu there", number(block),
                           "xyz"[axis], number(most_block)));
    }
    threads *= block;
  }
  const auto most_threads =
      static_cast<std::uint64_t>(std::min(kernel->max_threads, device_.attribute(kCuMaxThreadsPerBlock)));
  if (threads > most_threads) {
    return refuse(
        ErrorCode::unsupported, function, launch,
        format("%llu threads a block; with its %d registers a thread, this GPU takes at most %llu: schedule it "
               "with smaller blocks",
               number(threads), kernel->registers, number(most_threads)));
  }
  const auto most_shared = static_cast<std::uint64_t>(device_.attribute(kCuMaxSharedMemoryPerBlockOptin));
  const std::uint64_t shared = launch.shared_bytes + static_cast<std::uint64_t>(kernel->shared_bytes);
  if (shared < launch.shared_bytes || shared > most_shared) {
    return refuse(ErrorCode::unsupported, function, launch,
                  format("%llu bytes of shared memory a block; this GPU has %llu: schedule it with smaller tiles",
                         number(shared), number(most_shared)));
  }
  const int dynamic = static_cast<int>(launch.shared_bytes);
  if (dynamic > kernel->dynamic_allowed) {
    const CuResult error = api.set_function_attribute(kernel->function, kCuFuncMaxDynamicSharedSizeBytes, dynamic);
    if (error != kCuSuccess) return cuda_failure(api, "cuFuncSetAttribute", error);
    kernel->dynamic_allowed = dynamic;
  }
  return *kernel;
}

Result<std::unique_ptr<Stream>> CudaProgram::open_stream(const FunctionInfo& function) {
  return std::unique_ptr<Stream>(std::make_unique<CudaStream>(device_, *this, function));
}

Result<std::unique_ptr<Program>> load_cuda_program(const ModuleFile& module, CudaDevice& device) {
  FERRY_ASSIGN(const CodeImage* image, choose_cuda_image(module.images, device.architecture(), device.describe().name));
  // PTX must be null-terminated.
  const std::string code(image->bytes.begin(), image->bytes.end());
  std::string log(kMaxLog, '\0');
  int options[] = {kCuJitErrorLogBuffer, kCuJitErrorLogBufferSizeBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(std::uintptr_t{kMaxLog})};
  CuModule loaded = nullptr;
  const CuResult error = device.api().module_load(&loaded, code.c_str(), 2, options, values);
  log.resize(std::strlen(log.c_str()));
  if (error != kCuSuccess) return load_failure(device, *image, code, error, log);
  return std::unique_ptr<Program>(std::make_unique<CudaProgram>(device, loaded));
}

}  // namespace ferry::device
