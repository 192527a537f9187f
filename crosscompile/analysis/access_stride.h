// Determines how the index of an access changes when one variable increases by one.
#pragma once

#include "crosscompile/ir/expr.h"

#include <optional>

namespace ferry::analysis {

// Returns by how much the index grows when the variable grows by one, if that is the same number for all values of its
// variables.
std::optional<std::int64_t> stride_along(const ir::Expr& index, const ir::Expr& var);

enum class AccessStride : std::uint8_t {
  none,        // the same element
  contiguous,  // the next element
  small,       // every second to fourth element: still few cache lines for each vector
  strided,     // anything else
};

// Returns how the load moves through memory when the variable increases by one.
AccessStride access_stride(const ir::Load& load, const ir::Expr& var);

}  // namespace ferry::analysis
