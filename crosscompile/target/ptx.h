// The target of PTX that LLVM generates for the target "cuda": code for one GPU instead of source text.
#pragma once

#include "crosscompile/target/target.h"

#include <string>

namespace ferry {

// Feature of such a target: code generation links the functions of math.def from CUDA's library.
inline constexpr const char* kLibdevice = "libdevice";

// Selects the compilers for the target "cuda": both, unless one is requested, as in "cuda -compiler=llvm".
enum class CudaCompiler { both, nvrtc, llvm };
CudaCompiler cuda_compiler(const Target& cuda);

Target ptx_target_like(const Target& cuda, const std::string& gpu, bool has_libdevice);

}  // namespace ferry
