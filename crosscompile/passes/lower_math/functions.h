// The expansions, one function each: each returns an expression that computes the function for one float32 argument
// (two for atan2 and pow) with any number of lanes. The only calls in it are fma, abs, sqrt and bitcast, all of which
// are instructions.
//
// Each definition states its error in units of the last place; a test measures it. NaN, infinities, signed zeros and
// subnormals are treated as in the C library, up to the payload of a NaN. An argument may be used often: pass a
// variable.
#pragma once

#include <limits>

#include "crosscompile/passes/lower_math/sequence.h"

namespace ferry::passes::math {

inline constexpr std::int64_t kSqrtHalfBits = 0x3f3504f3;  // the bits of the float sqrt(1/2)
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// exponential.cpp
ir::Expr exp(Sequence& s, const ir::Expr& x);
ir::Expr exp2(Sequence& s, const ir::Expr& x);
ir::Expr expm1(Sequence& s, const ir::Expr& x);
ir::Expr sigmoid(Sequence& s, const ir::Expr& x);
// hyperbolic.cpp
ir::Expr tanh(Sequence& s, const ir::Expr& x);
ir::Expr sinh(Sequence& s, const ir::Expr& x);
ir::Expr cosh(Sequence& s, const ir::Expr& x);
// logarithm.cpp
ir::Expr log(Sequence& s, const ir::Expr& x);
ir::Expr log2(Sequence& s, const ir::Expr& x);
ir::Expr log1p(Sequence& s, const ir::Expr& x);
// trigonometric.cpp
ir::Expr sin(Sequence& s, const ir::Expr& x);
ir::Expr cos(Sequence& s, const ir::Expr& x);
ir::Expr tan(Sequence& s, const ir::Expr& x);
// inverse.cpp
ir::Expr asin(Sequence& s, const ir::Expr& x);
ir::Expr acos(Sequence& s, const ir::Expr& x);
ir::Expr atan(Sequence& s, const ir::Expr& x);
ir::Expr atan2(Sequence& s, const ir::Expr& y, const ir::Expr& x);
// error_function.cpp
ir::Expr erf(Sequence& s, const ir::Expr& x);
// power.cpp
ir::Expr pow(Sequence& s, const ir::Expr& base, const ir::Expr& exponent);

}  // namespace ferry::passes::math
