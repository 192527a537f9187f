// A signature says how to call a function that ferry did not compile:
//
//     saxpy(f32 a, in f32[n] x, inout f32[n] y)
//
// A parameter is `DTYPE NAME`, a number, or `in|out|inout DTYPE[SIZES] NAME`, a dense tensor. Sizes are integers,
// names, and + - * / and parentheses over them. The C function takes the parameters in this order, tensors as pointers,
// followed by each size that is not a parameter itself, as int64_t, in the order of first appearance:
//
//     void saxpy(float a, const float* x, float* y, int64_t n);
//
// A size may be named among the parameters to pass it there: as `i64 n`, or as `i32 n`, `u32 n` or `u64 n` in that
// type.
//
// `i32 saxpy(...)` returns 0 on success; without a return type, the function returns nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crosscompile/codegen/llvm/target/adapter.h"
#include "crosscompile/foreign/cuda_launch.h"
#include "module/manifest.h"

namespace ferry::foreign {

struct Signature {
  FunctionInfo function;  // its symbol is that of the adapter
  std::string c_name;
  bool returns_status = false;
  std::vector<codegen::PassedArgument> passed = {};  // what the C function receives, in order
  std::optional<KernelLaunch> launch = {};           // for a kernel in CUDA C
};

// Throws CompileError with a caret below the column, and what was expected there.
Signature parse_signature(std::string_view text);

// Parses the signature of a kernel in CUDA C, behind which its launch may stand. `launch`, unless it is empty, takes
// the place of that. Without either, the result has none. The conditions of the launch become those of the function.
Signature parse_cuda_signature(std::string_view text, const std::string& launch);

// Returns the text after "ferry:" in each comment that has it, as in "// ferry: saxpy(...)".
std::vector<std::string> signatures_in_source(std::string_view source);

}  // namespace ferry::foreign
