// Modules of PTX, whose kernels the interpreter runs on the stand-in's memory. A fault that it finds breaks the GPU and
// becomes the name of the error.
#include <algorithm>
#include <cstring>

#include "tests/support/fake_cuda/fake.h"

namespace ferry::fake {
namespace {

CuResult error_of(ptx::FaultKind kind) {
  switch (kind) {
    case ptx::FaultKind::illegal_address: return kCuIllegalAddress;
    case ptx::FaultKind::misaligned: return kCuMisalignedAddress;
    case ptx::FaultKind::endless: return kCuLaunchTimeout;
    case ptx::FaultKind::race:
    case ptx::FaultKind::unwritten:
    case ptx::FaultKind::divergence: return kCuAssert;
    case ptx::FaultKind::invalid_launch: break;
  }
  return kCuLaunchFailed;
}

std::vector<ptx::Region> reachable_memory() {
  std::vector<ptx::Region> regions;
  for (const auto& [block, bytes] : state().memory)
    regions.push_back({block + kGpu, bytes, reinterpret_cast<std::uint8_t*>(block)});
  for (const auto& [block, bytes] : state().pinned)
    regions.push_back({reinterpret_cast<std::uint64_t>(block), bytes, static_cast<std::uint8_t*>(block)});
  return regions;
}

void run_kernel(const ptx::Program& program, const ptx::Function& kernel, const Shape& shape, void** parameters) {
  ptx::Launch launch;
  launch.program = &program;
  launch.kernel = &kernel;
  launch.grid = shape.grid;
  launch.block = shape.block;
  launch.dynamic_bytes = shape.shared_bytes;
  launch.seed = static_cast<std::uint64_t>(setting("FERRY_FAKE_CUDA_SEED", 0));
  launch.landing = static_cast<ptx::Landing>(setting("FERRY_FAKE_CUDA_LANDING", 2));
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ptx::Parameter& parameter = kernel.parameters[i];
    launch.parameters.resize(std::max(launch.parameters.size(), parameter.offset + parameter.bytes));
    std::memcpy(launch.parameters.data() + parameter.offset, parameters[i], parameter.bytes);
  }
  try {
    ptx::run(launch, reachable_memory());
  } catch (const ptx::Fault& fault) {
    state().broken = error_of(fault.kind);
    state().fault = fault.what();
  }
}

}  // namespace

std::unique_ptr<LoadedModule> load_ptx(const std::string& text) {
  auto module = std::make_unique<LoadedModule>();
  module->program = std::make_unique<ptx::Program>(ptx::parse(text));
  const ptx::Program& program = *module->program;
  for (const auto& [name, function] : program.functions) {
    if (!function->is_kernel) continue;
    const ptx::Function& kernel = *function;
    Kernel made{name, {}, 1024, 32, static_cast<int>(ptx::shared_bytes_of(kernel)), {}};
    for (const ptx::Parameter& parameter : kernel.parameters) made.parameter_bytes.push_back(parameter.bytes);
    made.run = [&program, &kernel](const Shape& shape, void** parameters) {
      run_kernel(program, kernel, shape, parameters);
    };
    module->kernels.emplace(name, std::move(made));
  }
  return module;
}

}  // namespace ferry::fake
