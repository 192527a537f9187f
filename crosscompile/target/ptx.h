// PTX that comes out of LLVM is made for the target "cuda" with other means: code for one GPU instead of a text.
#pragma once

#include "crosscompile/target/target.h"

#include <string>

namespace ferry {

// A feature of such a target: code generation brings the functions of math.def from CUDA's library.
inline constexpr const char* kLibdevice = "libdevice";

// Who makes code for the target "cuda": both, unless one of them is asked for, "cuda -compiler=llvm".
enum class CudaCompiler { both, nvrtc, llvm };
CudaCompiler cuda_compiler(const Target& cuda);

Target ptx_target_like(const Target& cuda, const std::string& gpu, bool has_libdevice);

}  // namespace ferry
