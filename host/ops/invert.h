// The inverse of each element, as a stage of its own: where many elements are divided by the same one, multiplying them
// takes a fraction of the time. The product rounds twice, so it may be one unit in the last place off the quotient.
#pragma once

#include "ferry/ops/elementwise.h"

#include <string>
#include <utility>

namespace ferry::ops {

// Whether elements of a type are divided by their divisor itself: float16 cannot represent the inverse of a large one,
// and in bfloat16 the second rounding is visible.
inline bool needs_quotient(DType type) { return dtype_bytes(type) < 4; }

inline Tensor invert(const Tensor& x, std::string name) {
  return map(x, [](const lang::Expr& each) { return ir::constant(each.type(), 1.0) / each; }, std::move(name));
}

}  // namespace ferry::ops
