// Compiles lowered functions to PTX without NVIDIA's compiler.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <span>
#include <string>
#include <vector>

namespace ferry {

// PTX for one of the GPUs that the target "cuda" may name. The functions must not have gone through the passes yet.
// Math functions come from libdevice where it is found (codegen/cuda/cuda_files.h), and otherwise from ferry itself.
struct Ptx {
  std::string text;
  std::vector<ir::Function> functions;  // as they were when the text was generated
};
Ptx compile_ptx(std::span<const ir::Function> functions, const Target& cuda, const std::string& gpu);

}  // namespace ferry
