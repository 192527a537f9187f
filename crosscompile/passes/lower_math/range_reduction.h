// Reduces the arguments of sin, cos and tan to a quarter turn.
#pragma once

#include "crosscompile/passes/lower_math/sequence.h"

#include <functional>

namespace ferry::passes::math {

// angle = quarters * pi/2 + rest, where |rest| exceeds pi/4 only slightly.
struct Angle {
  ir::Expr quarters;  // i32; only the low two bits matter
  ir::Expr rest;      // within 2 ulp, however small it is
};

// Returns the result of `body` for the angle, which is not negative. If any lane has a large angle, all lanes take a
// slower path; an infinite angle gives NaN.
ir::Expr with_reduced(Sequence& s, const ir::Expr& angle,
                      const std::function<ir::Expr(Sequence& s, const Angle& reduced)>& body);

}  // namespace ferry::passes::math
