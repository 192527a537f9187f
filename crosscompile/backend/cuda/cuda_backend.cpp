#include "crosscompile/backend/cuda/cuda_backend.h"

#include "base/suggest.h"
#include "crosscompile/backend/cuda/compile_ptx.h"
#include "crosscompile/backend/cuda/cubin.h"
#include "crosscompile/backend/launch_plan.h"
#include "crosscompile/codegen/cuda/cuda_files.h"
#include "crosscompile/codegen/cuda/nvrtc.h"
#include "crosscompile/codegen/source/source.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/ptx_target.h"

#include <algorithm>
#include <string>

namespace ferry {
namespace {

bool is_by_llvm(const Target& target, const std::string& gpu) {
  if (target.cuda_compiler != CudaCompiler::both) return target.cuda_compiler == CudaCompiler::llvm;
  return codegen::cuda::find_cuda_file(codegen::cuda::CudaFile::nvrtc).empty() || !codegen::cuda::nvrtc_knows(gpu);
}

// Returns whether both launch the same kernels with the same operands: a module has one plan for all of its images.
bool have_same_plan(std::span<const ir::Function> a, std::span<const ir::Function> b) {
  const auto plan = [](const ir::Function& function) { return launch_plan(function, SharedMemory::at_launch); };
  for (std::size_t i = 0; i < a.size(); ++i)
    if (plan(a[i]) != plan(b[i])) return false;
  return true;
}

}  // namespace

const std::vector<bool>& CudaBackend::by_llvm() const {
  std::call_once(is_decided_, [&] {
    for (const std::string& gpu : target_.gpus) by_llvm_.push_back(is_by_llvm(target_, gpu));
  });
  return by_llvm_;
}

Target CudaBackend::pipeline_target() const {
  if (by_llvm().empty() || std::ranges::find(by_llvm(), false) != by_llvm().end()) return target_;
  return ptx_target_like(target_, target_.gpus.front(),
                         !codegen::cuda::find_cuda_file(codegen::cuda::CudaFile::libdevice).empty());
}

Status CudaBackend::supports(const ir::Function& lowered) const {
  return support_of([&] {
    const Target target = pipeline_target();
    const ir::Function function = passes::run_pipeline(lowered, target);
    plan_of(function);
    if (target.is_source) codegen::emit_source(std::span(&function, 1), target, codegen::source::Language::cuda);
  });
}

std::optional<Plan> CudaBackend::plan_of(const ir::Function& after_passes) const {
  return launch_plan(after_passes, SharedMemory::at_launch);
}

ModuleImages CudaBackend::images(const ModuleFunctions& functions) const {
  ModuleImages result;
  const auto add_ptx = [&](const std::string& gpu) {
    const Ptx ptx = compile_ptx(functions.lowered, target_, gpu);
    if (!have_same_plan(functions.after_passes, ptx.functions))
      throw CompileError("LLVM's kernels are launched in another way than those of NVRTC");
    result.images.push_back({ImageKind::ptx, {ptx.text.begin(), ptx.text.end()}, 0, gpu});
  };
  std::string text;
  for (std::size_t g = 0; g < target_.gpus.size(); ++g) {
    const std::string& gpu = target_.gpus[g];
    if (by_llvm()[g]) {
      add_ptx(gpu);
      continue;
    }
    if (text.empty()) text = codegen::emit_source(functions.after_passes, target_, codegen::source::Language::cuda);
    result.images.push_back({ImageKind::cubin, cubin_of(text, gpu, functions.after_passes), 0, gpu});
  }
  if (target_.cuda_compiler != CudaCompiler::both || result.images.front().kind != ImageKind::cubin) return result;
  try {
    add_ptx(target_.gpus.front());
  } catch (const CompileError& error) {
    // Functions that LLVM cannot compile, such as those with a user's intrinsic in CUDA C, have cubins only. Without
    // the note the user would discover only on another machine that the module runs on fewer GPUs than usual.
    const auto is_ptx = [](const CodeImage& image) { return image.kind == ImageKind::ptx; };
    if (std::ranges::none_of(result.images, is_ptx))
      result.notes.push_back("the module has no PTX and runs on GPUs of " + joined(target_.gpus) +
                             " alone: " + error.what());
  }
  return result;
}

std::vector<std::uint8_t> CudaBackend::object(std::span<const ir::Function>, std::span<const std::uint8_t>) const {
  refuse_object(target_);
}

bool CudaBackend::has_text(TextForm form) const { return form == TextForm::source || form == TextForm::ptx; }

std::string CudaBackend::text(TextForm form, std::span<const ir::Function> lowered,
                              const passes::AfterPass& after) const {
  if (form == TextForm::ptx) return compile_ptx(lowered, target_, target_.gpus.front()).text;
  return codegen::emit_source(passes::run_pipeline(lowered, target_, after), target_, codegen::source::Language::cuda);
}

}  // namespace ferry
