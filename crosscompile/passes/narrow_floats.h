// float16 and bfloat16 in terms of 32-bit floats and integers, for targets without instructions for them. Every
// function works on scalars and vectors alike; integers that carry bits are u16.
//
// Rounding is to nearest even, subnormals are exact, NaN stays NaN and becomes quiet, what is too large becomes
// infinity. No sequence depends on subnormal float32 values, which vector units of 32-bit ARM flush.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::passes {

ir::Expr f16_bits_to_f32(const ir::Expr& bits);
ir::Expr f32_to_f16_bits(const ir::Expr& value);
ir::Expr bf16_bits_to_f32(const ir::Expr& bits);
ir::Expr f32_to_bf16_bits(const ir::Expr& value);

// The float64 as a float32 that is odd in its last place when inexact: rounding it once more to a narrow type gives
// what rounding the float64 once would have given (S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded
// sums", 2008).
ir::Expr f64_to_f32_odd(const ir::Expr& value);

// The same for integers of more than 16 bits.
ir::Expr int_to_f32_odd(const ir::Expr& value);

// "bitcast", which is undone rather than repeated.
ir::Expr bitcast(DType to, const ir::Expr& value);

}  // namespace ferry::passes
