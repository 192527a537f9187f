// Modules and kernel launches. An image is text: PTX, or "cubin", which stands for the kernels of fake_kernels.cpp;
// "garbage" does not assemble; "newer" stands for code of a later CUDA, like PTX of version 99.
#include <algorithm>
#include <cstring>
#include <string>

#include "tests/support/fake_cuda/fake.h"

using namespace ferry::fake;

namespace {

void write_log(const char* text, unsigned count, const int* options, void** values) {
  char* log = nullptr;
  std::size_t bytes = 0;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == kCuJitErrorLogBuffer) log = static_cast<char*>(values[i]);
    if (options[i] == kCuJitErrorLogBufferSizeBytes) bytes = reinterpret_cast<std::size_t>(values[i]);
  }
  if (log != nullptr && bytes > 0) {
    log[std::string(text).copy(log, bytes - 1)] = '\0';
  }
}

Kernel* kernel_of(CuFunction function) { return reinterpret_cast<Kernel*>(function); }

}  // namespace

FERRY_FAKE_API cuModuleLoadDataEx(CuModule* module, const void* image, unsigned count, int* options, void** values) {
  if (const CuResult error = ready(); error != kCuSuccess) return error;
  const std::string text = static_cast<const char*>(image);
  const bool is_ptx = text.find(".version ") != std::string::npos;
  if (text.find(".version 99") != std::string::npos) return kCuUnsupportedPtxVersion;
  if (text.find("newer") != std::string::npos) return kCuNoBinaryForGpu;
  if (text.find("garbage") != std::string::npos) {
    write_log("ptxas application ptx input, line 3; error: Unknown symbol 'garbage'", count, options, values);
    return is_ptx ? kCuInvalidPtx : kCuInvalidImage;
  }
  std::unique_ptr<LoadedModule> loaded;
  try {
    loaded = text.find(".entry ") == std::string::npos ? std::make_unique<LoadedModule>() : load_ptx(text);
  } catch (const ferry::ptx::ParseError& error) {
    write_log(error.what(), count, options, values);
    return kCuInvalidPtx;
  }
  *module = reinterpret_cast<CuModule>(loaded.release());
  return kCuSuccess;
}

FERRY_FAKE_API cuModuleUnload(CuModule module) {
  run_queue();
  delete reinterpret_cast<LoadedModule*>(module);
  return ready();
}

FERRY_FAKE_API cuModuleGetFunction(CuFunction* function, CuModule module, const char* name) {
  *function = reinterpret_cast<CuFunction>(reinterpret_cast<LoadedModule*>(module)->find(name));
  return *function == nullptr ? kCuNotFound : ready();
}

FERRY_FAKE_API cuFuncGetAttribute(int* value, int what, CuFunction function) {
  const Kernel& kernel = *kernel_of(function);
  switch (what) {
    case kCuFuncMaxThreadsPerBlock: *value = kernel.max_threads; break;
    case kCuFuncSharedSizeBytes: *value = kernel.shared_bytes; break;
    case kCuFuncNumRegs: *value = kernel.registers; break;
    default: return kCuInvalidValue;
  }
  return ready();
}

FERRY_FAKE_API cuFuncSetAttribute(CuFunction function, int what, int value) {
  if (what != kCuFuncMaxDynamicSharedSizeBytes) return kCuInvalidValue;
  kernel_of(function)->dynamic_bytes = value;
  return ready();
}

FERRY_FAKE_API cuLaunchKernel(CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared, CuStream, void** parameters,
                              void**) {
  if (const CuResult error = ready(); error != kCuSuccess) return error;
  const Kernel& kernel = *kernel_of(function);
  const std::uint64_t block = std::uint64_t{block_x} * block_y * block_z;
  const int most_dynamic = std::max(kernel.dynamic_bytes, (48 << 10) - kernel.shared_bytes);
  const bool fits = block >= 1 && block <= static_cast<unsigned>(kernel.max_threads) && grid_x >= 1 && grid_y >= 1 &&
                    grid_y <= 65535 && grid_z >= 1 && grid_z <= 65535 && static_cast<int>(shared) <= most_dynamic;
  if (!fits) return kCuInvalidValue;
  // The caller may change the parameters before the kernel runs, so copy them.
  std::vector<std::vector<char>> copies;
  for (std::size_t i = 0; i < kernel.parameter_bytes.size(); ++i) {
    const char* from = static_cast<const char*>(parameters[i]);
    copies.emplace_back(from, from + kernel.parameter_bytes[i]);
  }
  const Shape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared};
  state().queue.push_back([&kernel, copies, shape]() mutable {
    const char* crashing = std::getenv("FERRY_FAKE_CUDA_CRASH");
    if (crashing != nullptr && kernel.name == crashing) {
      state().broken = static_cast<CuResult>(setting("FERRY_FAKE_CUDA_ERROR", kCuIllegalAddress));
      return;
    }
    std::vector<void*> pointers;
    for (std::vector<char>& copy : copies) pointers.push_back(copy.data());
    kernel.run(shape, pointers.data());
  });
  return kCuSuccess;
}
