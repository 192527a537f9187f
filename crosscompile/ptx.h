// From lowered functions to PTX, without NVIDIA's compiler.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

#include <span>
#include <string>

namespace ferry {

// For one of the GPUs that the target "cuda" may name. Functions must not have gone through the passes yet. Math
// functions are libdevice's where it is found (codegen/cuda/cuda_files.h), else ferry's own.
std::string compile_ptx(std::span<const ir::Function> functions, const Target& cuda, const std::string& gpu);

}  // namespace ferry
