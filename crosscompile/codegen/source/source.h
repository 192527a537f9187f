// Prints lowered functions as readable text: C for any C11 compiler, CUDA C or OpenCL C.
//
// In C a function becomes `int32_t ferry_fn_NAME(void* const* args, const ferry_runtime_api* rt)`
// (ferry/runtime_api.h, of which the text contains its own copy). Its meaning is that of ferry/expr.h with every
// compiler: nothing depends on what C leaves undefined, signed overflow included, as long as sizes are below about
// 2^31, so that their products fit in 64 bits.
//
// In CUDA C and OpenCL C it becomes the kernels of passes/gpu/extract_kernels.h, with their symbols and parameters. The
// text includes nothing, so that NVRTC needs no headers.
#pragma once

#include "crosscompile/codegen/source/dialect.h"
#include "crosscompile/ir/function.h"
#include "ferry/target/target.h"

#include <span>
#include <string>

namespace ferry::codegen {

// Functions must have gone through passes::run_pipeline for the target, which has is_source.
std::string emit_source(std::span<const ir::Function> functions, const Target& target, source::Language language);

}  // namespace ferry::codegen
