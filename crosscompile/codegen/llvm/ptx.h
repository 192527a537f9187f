// PTX from lowered functions, through LLVM: no piece of NVIDIA's compiler takes part. No LLVM type shows here.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

#include <span>
#include <string>

namespace ferry::codegen {

// The kernels of passes/launches.h, under their symbols and with their parameters, as CUDA C would have them (a bool is
// a byte). Functions must have gone through passes::run_pipeline for this target, one of ptx_target_like
// (target/ptx.h). For a GPU that is newer than LLVM's list the text is for the newest one that LLVM knows, which
// drivers take as well. `libdevice`: the file, where the target has it.
std::string emit_ptx(std::span<const ir::Function> functions, const Target& target, const std::string& libdevice);

}  // namespace ferry::codegen
