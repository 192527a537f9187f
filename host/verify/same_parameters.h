// Matches the parameters of two functions, so that both can be given the same arguments.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/status.h"
#include "module/manifest.h"

namespace ferry::verify {

// Whether the parameter is a scalar that is a size, such as `i64 n` of a function with a size n. Its value follows from
// the tensors.
bool is_size(const FunctionInfo& function, std::size_t parameter);

// Pairs the parameters in order, except those that are sizes. The error invalid_argument names the first mismatch:
// another number of parameters, a number against a tensor, an output against an input, or another type or rank. `a` and
// `b` are the names of the functions in messages.
using ParameterPairs = std::vector<std::pair<std::size_t, std::size_t>>;
Result<ParameterPairs> pair_parameters(const FunctionInfo& a, const FunctionInfo& b);

}  // namespace ferry::verify
