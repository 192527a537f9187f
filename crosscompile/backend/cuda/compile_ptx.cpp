#include "crosscompile/backend/cuda/compile_ptx.h"

#include "crosscompile/codegen/cuda/cuda_files.h"
#include "crosscompile/codegen/llvm/gpu/emit_ptx.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/target/ptx_target.h"

namespace ferry {

Ptx compile_ptx(std::span<const ir::Function> functions, const Target& cuda, const std::string& gpu) {
  const std::string libdevice = codegen::cuda::find_cuda_file(codegen::cuda::CudaFile::libdevice);
  const Target target = ptx_target_like(cuda, gpu, !libdevice.empty());
  Ptx ptx;
  ptx.functions = passes::run_pipeline(functions, target);
  ptx.text = codegen::emit_ptx(ptx.functions, target, libdevice);
  return ptx;
}

}  // namespace ferry
