// Shared by the functions that are based on exp.
#pragma once

#include "crosscompile/passes/lower_math/sequence.h"

namespace ferry::passes::math {

// 1.5 * 2^23: adding it to a small number rounds that number to an integer, which is then in the low bits of the sum.
inline constexpr double kRounder = 0x1.8p23;

// x = whole * ln(2) + rest, where |rest| exceeds ln(2) / 2 only slightly. The low bits of `biased` are those of whole +
// bias.
struct Reduced {
  ir::Expr biased;  // i32
  ir::Expr whole;   // f32
  ir::Expr rest;
};
Reduced reduce_by_ln2(Sequence& s, const ir::Expr& x, int bias);

// Returns exp(rest), within 0.6 ulp.
ir::Expr exp_of_rest(const Sequence& s, const ir::Expr& rest);
// Returns exp(rest) - 1, within 1 ulp.
ir::Expr expm1_of_rest(Sequence& s, const ir::Expr& rest);

// Returns 2^whole, where the low bits of `biased` are whole + 127 and the power is a normal number.
ir::Expr power_of_two(const Sequence& s, const ir::Expr& biased);
// Returns value * 2^whole, where `whole` is an integral f32 from -150 to 256 and the low bits of `biased` are whole +
// 254. The result may be subnormal or overflow. Targets with and without the instruction get the same bits.
ir::Expr scaled(Sequence& s, const ir::Expr& value, const ir::Expr& biased, const ir::Expr& whole);

// Returns exp(x) * 2^exponent for x whose result's exponent is from -150 to 129, within 1 ulp.
ir::Expr exp_scaled(Sequence& s, const ir::Expr& x, int exponent);

}  // namespace ferry::passes::math
