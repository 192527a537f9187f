#include "crosscompile/target/ptx.h"

namespace ferry {

CudaCompiler cuda_compiler(const Target& cuda) {
  if (cuda.text.find(" -compiler=nvrtc") != std::string::npos) return CudaCompiler::nvrtc;
  if (cuda.text.find(" -compiler=llvm") != std::string::npos) return CudaCompiler::llvm;
  return CudaCompiler::both;
}

Target ptx_target_like(const Target& cuda, const std::string& gpu, bool has_libdevice) {
  Target target = cuda;
  target.is_source = false;
  target.keeps_loops = false;
  target.triple = "nvptx64-nvidia-cuda";
  target.cpu = gpu;
  target.gpus = {gpu};
  if (has_libdevice) target.features = {kLibdevice};
  return target;
}

}  // namespace ferry
