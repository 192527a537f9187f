// Arguments of sin, cos and tan brought down to a quarter turn.
#pragma once

#include "crosscompile/passes/lower_math/sequence.h"

#include <functional>

namespace ferry::passes::math {

// angle = quarters * pi/2 + rest, |rest| <= pi/4 and a little.
struct Angle {
  ir::Expr quarters;  // i32; the low two bits count
  ir::Expr rest;      // within 2 ulp, however small it is
};

// What `body` makes of the angle, which is not negative. Large angles take a longer way, on which the other lanes go
// along; an infinite one is NaN.
ir::Expr with_reduced(Sequence& s, const ir::Expr& angle,
                      const std::function<ir::Expr(Sequence& s, const Angle& reduced)>& body);

}  // namespace ferry::passes::math
