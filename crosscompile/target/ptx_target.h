// The target of PTX that LLVM generates for the target "cuda": code for one GPU instead of source text.
#pragma once

#include "ferry/target/target.h"

#include <string>

namespace ferry {

// `has_libdevice`: code generation links the functions of math.def from CUDA's library.
Target ptx_target_like(const Target& cuda, const std::string& gpu, bool has_libdevice);

}  // namespace ferry
