// From lowered functions to PTX, without NVIDIA's compiler.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

#include <span>
#include <string>
#include <vector>

namespace ferry {

// For one of the GPUs that the target "cuda" may name. Functions must not have gone through the passes yet. Math
// functions are libdevice's where it is found (codegen/cuda/cuda_files.h), else ferry's own.
struct Ptx {
  std::string text;
  std::vector<ir::Function> functions;  // as they went into it
};
Ptx compile_ptx(std::span<const ir::Function> functions, const Target& cuda, const std::string& gpu);

}  // namespace ferry
