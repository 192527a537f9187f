// Operators whose indices are data.
#pragma once

#include "ferry/lang/tensor.h"

#include <string>
#include <vector>

namespace ferry::ops {

using lang::Expr;
using lang::Tensor;

// Element i of the result is x[.., indices[i], ..], where the index stands in `dimension`. A negative one counts from
// the end; the caller ensures that all of them are in bounds. The indices have x's rank, and the other dimensions of
// both broadcast.
Tensor gather_elements(const Tensor& x, const Tensor& indices, std::size_t dimension, std::string name);

enum class ScatterMode { replace, add, mul, minimum, maximum };
// Returns x with the elements at some places of `dimension` replaced by those of `updates`, or combined with them.
// Indices count as those of gather_elements(); those out of bounds change nothing. There are as many indices as updates
// along `dimension`, and both broadcast to the shape of x in the other dimensions. Updates with
// equal indices are applied in their order.
Tensor scatter(const Tensor& x, const Tensor& indices, const Tensor& updates, std::size_t dimension, ScatterMode mode,
               std::string name);

// Returns the place of each element along `dimension` if that were sorted, as int64. Equal elements keep their order,
// and NaN counts as the greatest. Each element is compared with all others of its line.
Tensor sort_rank(const Tensor& x, std::size_t dimension, bool descending, std::string name);

}  // namespace ferry::ops
