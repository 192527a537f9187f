// Reconciles operands with different numbers of lanes.
#pragma once

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"

#include <algorithm>

namespace ferry::ir {

inline std::uint32_t common_lanes(Type left, Type right) {
  if (left.lanes != right.lanes && left.is_vector() && right.is_vector()) {
    throw InternalError("operands of " + to_text(left) + " and " + to_text(right) + " differ in lanes");
  }
  return std::max(left.lanes, right.lanes);
}

inline Expr widen(const Expr& expr, std::uint32_t lanes) {
  return expr.type().lanes == lanes ? expr : Broadcast::make(expr, lanes);
}

}  // namespace ferry::ir
