// Which argument of one function is which of another, so that both can be given the same.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "rpc/abi/manifest.h"
#include "rpc/base/status.h"

namespace ferry::verify {

// A number that is a size: `i64 n` of a function with a size n. It follows from the tensors.
bool is_size(const FunctionInfo& function, std::size_t parameter);

// Pairs of parameters in order, those aside that are sizes. invalid_argument names the first that do not fit, `a` and
// `b` being what messages call the functions: another number of them, a number against a tensor, an output against an
// input, or another type or rank.
using ParameterPairs = std::vector<std::pair<std::size_t, std::size_t>>;
Result<ParameterPairs> pair_parameters(const FunctionInfo& a, const FunctionInfo& b);

}  // namespace ferry::verify
