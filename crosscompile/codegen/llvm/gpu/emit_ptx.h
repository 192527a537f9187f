// Generates PTX from lowered functions with LLVM, without any part of NVIDIA's compiler. No LLVM type appears here.
#pragma once

#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <span>
#include <string>

namespace ferry::codegen {

// Emits the kernels of passes/gpu/extract_kernels.h with their symbols and parameters, as CUDA C would declare them (a
// bool is a byte). Functions must have gone through passes::run_pipeline for this target, which must come from
// ptx_target_like() (target/ptx_target.h). For a GPU that is newer than LLVM's list the code is for the newest one that
// LLVM knows, which drivers accept as well. `libdevice`: path of the file, where the target has it.
std::string emit_ptx(std::span<const ir::Function> functions, const Target& target, const std::string& libdevice);

}  // namespace ferry::codegen
