#include "crosscompile/gpu_module.h"

#include "base/format.h"
#include "crosscompile/codegen/cuda/cuda_files.h"
#include "crosscompile/codegen/cuda/nvrtc.h"
#include "crosscompile/codegen/source/source.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/operators.h"
#include "crosscompile/manifest_exprs.h"
#include "crosscompile/map_diagnostics.h"
#include "crosscompile/passes/gpu/extract_kernels.h"
#include "crosscompile/ptx.h"
#include "crosscompile/target/ptx.h"
#include "module/cubin.h"

#include <algorithm>
#include <string>

namespace ferry {
namespace {

class Planner {
 public:
  explicit Planner(const ir::Function& function) : function_(function) {}

  Step step(const passes::Launch& launch, bool is_cuda) const {
    Step step;
    if (is_cuda && launch.shared_bytes > passes::kStaticSharedBytes)
      step.launch.shared_bytes = manifest(ir::Expr(launch.shared_bytes), "shared memory");
    step.launch.kernel = launch.symbol;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      step.launch.grid[axis] = manifest(launch.grid[axis].extent, "grid");
      step.launch.block[axis] = manifest(launch.block[axis].extent, "block");
    }
    for (const passes::LaunchParameter& parameter : launch.parameters)
      step.launch.operands.push_back(operand(parameter));
    return step;
  }

 private:
  ManifestExpr manifest(const ir::Expr& expr, const char* what) const {
    return to_manifest(expr, function_, function_.name + ": " + what);
  }

  Operand operand(const passes::LaunchParameter& parameter) const {
    if (parameter.buffer != nullptr && parameter.offset.defined())
      return {OperandKind::call_workspace, 0, manifest(parameter.offset, "workspace")};
    for (std::uint32_t i = 0; i < function_.parameters.size(); ++i) {
      const ir::FunctionParameter& own = function_.parameters[i];
      if (parameter.buffer != nullptr && own.buffer == parameter.buffer) return {OperandKind::argument, i, {}};
    }
    for (std::uint32_t i = 0; i < function_.symbols.size(); ++i)
      if (parameter.variable.same_as(function_.symbols[i])) return {OperandKind::symbol, i, {}};
    for (std::uint32_t i = 0; i < function_.parameters.size(); ++i)
      if (parameter.variable.defined() && parameter.variable.same_as(function_.parameters[i].scalar))
        return {OperandKind::scalar, i, {}};
    throw InternalError(function_.name + ": a kernel is given what the function does not have");
  }

  const ir::Function& function_;
};

}  // namespace

Plan plan_of(const ir::Function& function, const Target& target) {
  const Planner planner(function);
  Plan plan;
  for (const passes::Launch& launch : passes::launches_of(function))
    plan.push_back(planner.step(launch, target.arch == Arch::cuda));
  return plan;
}

namespace {

// Returns whether LLVM compiles for this GPU: when -compiler=llvm asks for it or, if no compiler is named, when NVRTC
// is missing or does not know the GPU.
bool is_by_llvm(const Target& target, const std::string& gpu) {
  if (target.cuda_compiler != CudaCompiler::both) return target.cuda_compiler == CudaCompiler::llvm;
  return codegen::cuda::find_cuda_file(codegen::cuda::CudaFile::nvrtc).empty() || !codegen::cuda::nvrtc_knows(gpu);
}

// Returns whether both launch the same kernels with the same operands: a module has one plan for all of its images.
bool have_one_plan(std::span<const ir::Function> a, std::span<const ir::Function> b, const Target& target) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto bytes = [](const ir::Function& function) {
      return to_manifest(function.call_workspace, function, function.name + ": workspace");
    };
    if (plan_of(a[i], target) != plan_of(b[i], target) || bytes(a[i]) != bytes(b[i])) return false;
  }
  return true;
}

// Number of registers available to a block, the same on every GPU so far (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability").
constexpr std::uint64_t kBlockRegisters = 65536;

// Checks that a block's threads fit in the register file. The launch bounds make the compiler respect this; without
// them a launch would fail on the device, with an error that has no numbers.
void check_registers(const ir::Function& function, const std::string& gpu, std::span<const std::uint8_t> cubin) {
  const Result<std::vector<CubinKernel>> kernels = cubin_kernels(cubin);
  if (!kernels.is_ok()) return;
  for (const passes::Launch& launch : passes::launches_of(function)) {
    std::uint64_t threads = 1;
    for (const passes::LaunchAxis& axis : launch.block) threads *= static_cast<std::uint64_t>(*ir::as_int(axis.extent));
    for (const CubinKernel& kernel : kernels.value()) {
      if (kernel.name != launch.symbol || threads * kernel.registers <= kBlockRegisters) continue;
      throw CompileError("'" + function.name + "': expected at most " + count_text(kBlockRegisters) +
                         " registers for a block of " + gpu + ", got " + count_text(threads * kernel.registers) + " (" +
                         count_text(threads) + " threads of " + std::to_string(kernel.registers) +
                         "); schedule it with fewer threads a block");
    }
  }
}

std::vector<std::uint8_t> cubin_of(const std::string& text, const std::string& gpu,
                                   std::span<const ir::Function> finished) {
  std::vector<std::uint8_t> cubin;
  try {
    cubin = codegen::cuda::compile_cuda(text, gpu, finished.front().name + ".cu");
  } catch (const CompileError& error) {
    const std::string meaning = blame(error.what(), text, finished);
    if (meaning.empty()) throw;
    throw CompileError(error.what() + meaning +
                       "\nThe text is what --emit cuda shows. What CUDA C does not know comes from the rule of an "
                       "intrinsic: give it another for the architecture 'cuda'");
  }
  for (const ir::Function& function : finished) check_registers(function, gpu, cubin);
  return cubin;
}

}  // namespace

Target pipeline_target(const Target& target) {
  const auto by_llvm = [&](const std::string& gpu) { return is_by_llvm(target, gpu); };
  if (target.gpus.empty() || !std::all_of(target.gpus.begin(), target.gpus.end(), by_llvm)) return target;
  return ptx_target_like(target, target.gpus.front(),
                         !codegen::cuda::find_cuda_file(codegen::cuda::CudaFile::libdevice).empty());
}

std::vector<CodeImage> gpu_images(std::span<const ir::Function> functions, std::span<const ir::Function> finished,
                                  const Target& target) {
  const auto image_of = [](const std::string& kind, const std::string& text) {
    return CodeImage{kind, {text.begin(), text.end()}};
  };
  if (target.arch == Arch::opencl) return {image_of("opencl-c", codegen::emit_source(finished, target))};
  std::vector<CodeImage> images;
  const auto add_ptx = [&](const std::string& gpu) {
    const Ptx ptx = compile_ptx(functions, target, gpu);
    if (!have_one_plan(finished, ptx.functions, target)) return false;
    images.push_back(image_of("ptx-" + gpu, ptx.text));
    return true;
  };
  std::string text;
  for (const std::string& gpu : target.gpus) {
    if (!is_by_llvm(target, gpu)) {
      if (text.empty()) text = codegen::emit_source(finished, target);
      images.push_back({"cubin-" + gpu, cubin_of(text, gpu, finished)});
    } else if (!add_ptx(gpu)) {
      throw InternalError("the kernels of PTX are launched in another way than the plan says");
    }
  }
  if (target.cuda_compiler != CudaCompiler::both || !images.front().kind.starts_with("cubin")) return images;
  try {
    add_ptx(target.gpus.front());
  } catch (const CompileError&) {
    // Functions that LLVM cannot compile, such as those with a user's intrinsic in CUDA C, have cubins only.
  }
  return images;
}

}  // namespace ferry
