// Lowered functions as a text that a person can read: C that any C11 compiler compiles, CUDA C or OpenCL C.
//
// In C a function becomes `int32_t ferry_fn_NAME(void* const* args, const ferry_runtime_api* rt)`
// (rpc/abi/runtime_api.h, of which the text brings its own copy). Its meaning is that of ir/expr.h on every compiler:
// nothing depends on what C leaves undefined, signed overflow included, as long as sizes are below 2^31 or so that
// their products fit 64 bits.
//
// In the other two it becomes the kernels of passes/launches.h, under their symbols and with their parameters. Nothing
// is included, so that NVRTC needs no headers.
#pragma once

#include "crosscompile/ir/function.h"
#include "crosscompile/target/target.h"

#include <span>
#include <string>

namespace ferry::codegen {

// Functions must have gone through passes::run_pipeline for a target with is_source, whose arch says the language.
std::string emit_source(std::span<const ir::Function> functions, const Target& target);

}  // namespace ferry::codegen
