#include "crosscompile/backend/cuda/cubin.h"

#include "base/format.h"
#include "crosscompile/backend/cuda/map_diagnostics.h"
#include "crosscompile/codegen/cuda/nvrtc.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/gpu/extract_kernels.h"
#include "ferry/operators.h"
#include "module/cubin.h"

namespace ferry {
namespace {

// Number of registers available to a block, the same on every GPU so far (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability").
constexpr std::uint64_t kBlockRegisters = 65536;

// Checks that a block's threads fit in the register file. The launch bounds make the compiler respect this; without
// them a launch would fail on the device, with an error that has no numbers.
void check_registers(const ir::Function& function, const std::string& gpu, std::span<const std::uint8_t> cubin) {
  const Result<std::vector<CubinKernel>> kernels = cubin_kernels(cubin);
  if (!kernels.is_ok()) return;
  for (const passes::GpuKernel& kernel : passes::extract_kernels(function)) {
    std::uint64_t threads = 1;
    for (const passes::KernelAxis& axis : kernel.block) threads *= static_cast<std::uint64_t>(*ir::as_int(axis.extent));
    for (const CubinKernel& compiled : kernels.value()) {
      if (compiled.name != kernel.symbol || threads * compiled.registers <= kBlockRegisters) continue;
      throw CompileError("'" + function.name + "': expected at most " + count_text(kBlockRegisters) +
                         " registers for a block of " + gpu + ", got " + count_text(threads * compiled.registers) +
                         " (" + count_text(threads) + " threads of " + std::to_string(compiled.registers) +
                         "); schedule it with fewer threads a block");
    }
  }
}

}  // namespace

std::vector<std::uint8_t> cubin_of(const std::string& text, const std::string& gpu,
                                   std::span<const ir::Function> after_passes) {
  std::vector<std::uint8_t> cubin;
  try {
    cubin = codegen::cuda::compile_cuda({text, after_passes.front().name + ".cu"}, gpu).bytes;
  } catch (const CompileError& error) {
    const std::string explanation = map_diagnostics(error.what(), text, after_passes);
    if (explanation.empty()) throw;
    throw CompileError(error.what() + explanation +
                       "\nThe text is what --emit cuda shows. What CUDA C does not know comes from the rule of an "
                       "intrinsic: give it another for the architecture 'cuda'");
  }
  for (const ir::Function& function : after_passes) check_registers(function, gpu, cubin);
  return cubin;
}

}  // namespace ferry
