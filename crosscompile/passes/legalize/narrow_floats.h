// float16 and bfloat16 in terms of 32-bit floats and integers, for targets without instructions for them. Every
// function works on scalars and vectors alike; integers that hold the bits are u16.
//
// Rounding is to nearest even, subnormals are exact, NaN stays NaN and becomes quiet, overflow gives infinity. No
// sequence depends on subnormal float32 values, which the vector units of 32-bit ARM flush.
#pragma once

#include "crosscompile/ir/expr.h"

namespace ferry::passes {

ir::Expr f16_bits_to_f32(const ir::Expr& bits);
ir::Expr f32_to_f16_bits(const ir::Expr& value);
ir::Expr bf16_bits_to_f32(const ir::Expr& bits);
ir::Expr f32_to_bf16_bits(const ir::Expr& value);

// Rounds a float64 to odd: the float32 is odd in its last place when it is inexact, so that rounding it to a narrow
// type gives the same result as rounding the float64 once (S. Boldo, G. Melquiond, "Emulation of FMA and correctly
// rounded sums", 2008).
ir::Expr f64_to_f32_odd(const ir::Expr& value);

// Does the same for integers of more than 16 bits.
ir::Expr int_to_f32_odd(const ir::Expr& value);

// Makes a CallOp::bitcast; a bitcast of a bitcast cancels out instead of nesting.
ir::Expr bitcast(DType to, const ir::Expr& value);

}  // namespace ferry::passes
