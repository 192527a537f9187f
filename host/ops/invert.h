// The inverse of each element, as a stage of its own: where many elements are divided by the same one, multiplying them
// takes a fraction of the time. The product rounds twice, so it may be one unit in the last place off the quotient.
#pragma once

#include "ferry/ops/elementwise.h"

#include <string>
#include <utility>

namespace ferry::ops {

inline Tensor invert(const Tensor& x, std::string name) {
  return map(x, [](const lang::Expr& each) { return ir::constant(each.type(), 1.0) / each; }, std::move(name));
}

}  // namespace ferry::ops
