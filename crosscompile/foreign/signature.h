// How a function that ferry did not compile is to be called, as a person writes it:
//
//     saxpy(f32 a, in f32[n] x, inout f32[n] y)
//
// A parameter is `DTYPE NAME`, a number, or `in|out|inout DTYPE[SIZES] NAME`, a dense tensor. Sizes are whole numbers,
// names, and + - * / and parentheses over them. The C function takes the parameters in this order, tensors as
// pointers, and after them as int64_t each size that is no parameter itself, in the order of their first appearance:
//
//     void saxpy(float a, const float* x, float* y, int64_t n);
//
// `i32 saxpy(...)` returns 0 when all went well; without, it returns nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rpc/abi/manifest.h"

namespace ferry::foreign {

struct Signature {
  FunctionInfo function;  // its symbol is that of the adapter
  std::string c_name;
  bool returns_status = false;
};

// CompileError with a caret below the column, and what was expected there.
Signature parse_signature(std::string_view text);

// What stands behind "ferry:" in each comment of the source that has it, "// ferry: saxpy(...)".
std::vector<std::string> signatures_in_source(std::string_view source);

}  // namespace ferry::foreign
