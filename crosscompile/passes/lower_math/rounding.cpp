#include "crosscompile/passes/lower_math/rounding.h"

#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

namespace ferry::passes::math {

using namespace ir;

// A number to which 2^23 (2^52) is added has no bits left for a fraction, so the sum is rounded to an integer, halves
// to the even one. From this limit on all numbers are integers, and the comparison with it excludes NaN.
Expr round_to_whole(Sequence& s, MathFunction function, const Expr& x) {
  const Type type = x.type();
  const Expr limit = constant(type, type.code == DType::f32 ? 0x1p23 : 0x1p52);
  const Expr one = constant(type, 1.0), zero = constant(type, 0.0);
  const Type bits(type.code == DType::f32 ? DType::i32 : DType::i64, type.lanes);
  const auto as_bits = [&](const Expr& value) { return Call::make(bits, CallOp::bitcast, {value}); };
  const Expr sign = as_bits(x) & constant(bits, std::int64_t{1} << (bits.bits() - 1));
  const auto signed_like_x = [&](const Expr& value) {
    return Call::make(type, CallOp::bitcast, {as_bits(value) | sign});
  };

  const Expr magnitude = s.let("magnitude", s.magnitude(x));
  const Expr nearest = s.let("nearest", (magnitude + limit) - limit);
  Expr whole;
  if (function == MathFunction::round_even) {
    whole = nearest;
  } else if (function == MathFunction::trunc || function == MathFunction::round) {
    const Expr truncated = s.let("truncated", nearest - select(nearest > magnitude, one, zero));
    const Expr up = select(magnitude - truncated >= constant(type, 0.5), one, zero);
    whole = function == MathFunction::trunc ? truncated : truncated + up;
  } else {
    const Expr near = s.let("near", signed_like_x(nearest));
    // magnitude() drops the sign of a zero; it is restored below.
    const bool down = function == MathFunction::floor;
    const Expr moved = down ? near - select(near > x, one, zero) : near + select(near < x, one, zero);
    whole = s.magnitude(moved);
  }
  return select(magnitude < limit, signed_like_x(whole), x);
}

}  // namespace ferry::passes::math
