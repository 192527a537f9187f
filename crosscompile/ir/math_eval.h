// The functions of math.def on floats, in double, for what generated code is compared with: the interpreter and the
// reference evaluation. Both round the results to the type of the call, which is as good as correctly rounded for
// float32; generated code may differ from it by a few ulp.
#pragma once

#include "crosscompile/ir/callee.h"
#include "ferry/types.h"

#include <optional>
#include <string_view>

namespace ferry::ir {

// Ignores the arguments that the function does not have.
using RealFunction = double (*)(double, double, double);

// Returns null for what is not a function of floats.
RealFunction real_function(MathFunction function);
// Finds a function of the C library for floats of the type; the names for float32 have an f appended.
std::optional<MathFunction> find_c_math(std::string_view name, DType type);

}  // namespace ferry::ir
