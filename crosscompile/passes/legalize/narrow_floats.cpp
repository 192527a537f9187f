#include "crosscompile/passes/legalize/narrow_floats.h"

#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

#include <functional>
#include <string>

namespace ferry::passes {
namespace {

using namespace ir;

// Binds the value to a variable, so that it is computed once for all its uses in the body.
Expr bind(const char* name, const Expr& value, const std::function<Expr(const Expr&)>& body) {
  const Expr var = Var::make(name, value.type());
  return Let::make(var, value, body(var));
}

Expr u32(const Expr& like, std::int64_t value) { return constant(Type(DType::u32, like.type().lanes), value); }
Expr f32(const Expr& like, double value) { return constant(Type(DType::f32, like.type().lanes), value); }
Expr u64(const Expr& like, std::int64_t value) { return constant(like.type(), value); }

}  // namespace

Expr bitcast(DType to, const Expr& value) {
  if (value.type().code == to) return value;
  const auto* call = value.as<Call>();
  if (call != nullptr && call->callee.op == CallOp::bitcast) return bitcast(to, call->arguments[0]);
  return Call::make(Type(to, value.type().lanes), CallOp::bitcast, {value});
}

// Both directions use the float32 adder, which normalizes and rounds (the idea comes from the FP16 library of M.
// Dukhan).
Expr f16_bits_to_f32(const Expr& bits) {
  return bind("half", cast(DType::u32, bits), [](const Expr& half) {
    const Expr sign = (half & u32(half, 0x8000)) << u32(half, 16);
    return bind("magnitude", half & u32(half, 0x7fff), [&](const Expr& magnitude) {
      // The largest exponent becomes float32's largest, so that the multiplication preserves infinity and NaN.
      const Expr raised = (magnitude << u32(half, 13)) + u32(half, 224 << 23);
      const Expr normal = bitcast(DType::f32, raised) * f32(half, 0x1p-112);
      // A subnormal is its significand times 2^-24, which is the ulp of 0.5.
      const Expr subnormal = bitcast(DType::f32, magnitude | bitcast(DType::u32, f32(half, 0.5))) - f32(half, 0.5);
      const Expr value = select(magnitude < u32(half, 0x400), subnormal, normal);
      return bitcast(DType::f32, sign | bitcast(DType::u32, value));
    });
  });
}

Expr f32_to_f16_bits(const Expr& value) {
  return bind("single", bitcast(DType::u32, value), [](const Expr& single) {
    const Expr sign = (single >> u32(single, 16)) & u32(single, 0x8000);
    return bind("magnitude", single & u32(single, 0x7fffffff), [&](const Expr& magnitude) {
      // Four times the magnitude; 2^16 and above become infinite.
      const Expr scaled = bitcast(DType::f32, magnitude) * f32(single, 0x1p112) * f32(single, 0x1p-110);
      // Added to 2^15 times its power of two (2^-14 at least), the magnitude keeps as many bits as float16 has.
      const Expr power = max(magnitude & u32(single, 0x7f800000), u32(single, 113 << 23));
      const Expr sum = bitcast(DType::f32, power + u32(single, 15 << 23)) + scaled;
      return bind("rounded", bitcast(DType::u32, sum), [&](const Expr& rounded) {
        const Expr exponent = (rounded >> u32(single, 13)) & u32(single, 0x7c00);
        const Expr number = exponent + (rounded & u32(single, 0xfff));
        const Expr is_nan = magnitude > u32(single, 0x7f800000);
        return cast(DType::u16, sign | select(is_nan, u32(single, 0x7e00), number));
      });
    });
  });
}

Expr bf16_bits_to_f32(const Expr& bits) {
  const Expr wide = cast(DType::u32, bits);
  return bitcast(DType::f32, wide << u32(wide, 16));
}

Expr f32_to_bf16_bits(const Expr& value) {
  return bind("single", bitcast(DType::u32, value), [](const Expr& single) {
    const Expr shifted = single >> u32(single, 16);
    const Expr rounded = (single + u32(single, 0x7fff) + (shifted & u32(single, 1))) >> u32(single, 16);
    const Expr is_nan = (single & u32(single, 0x7fffffff)) > u32(single, 0x7f800000);
    return cast(DType::u16, select(is_nan, shifted | u32(single, 0x40), rounded));
  });
}

Expr f64_to_f32_odd(const Expr& value) {
  return bind("double", value, [](const Expr& exact) {
    return bind("nearest", cast(DType::f32, exact), [&](const Expr& nearest) {
      return bind("back", cast(DType::f64, nearest), [&](const Expr& back) {
        return bind("bits", bitcast(DType::u32, nearest), [&](const Expr& bits) {
          // When an even result is inexact, the odd neighbour on the other side of the value is one step away. A NaN
          // differs from itself too, but one step away it is still a NaN.
          const Expr is_even = (bits & u32(bits, 1)) == u32(bits, 0);
          const Expr too_large = call_math(MathFunction::abs, {back}) > call_math(MathFunction::abs, {exact});
          const Expr odd = select(too_large, bits - u32(bits, 1), bits + u32(bits, 1));
          return bitcast(DType::f32, select(is_even && back != exact, odd, bits));
        });
      });
    });
  });
}

Expr int_to_f32_odd(const Expr& value) {
  if (value.type().bits() <= 32) return f64_to_f32_odd(cast(DType::f64, value));
  // float64 holds 53 bits; the low 16 bits of larger numbers are folded into one sticky bit, which is rounding to odd
  // again.
  return bind("whole", value, [](const Expr& whole) {
    const std::int64_t limit = std::int64_t{1} << 50;
    Expr is_large = whole >= u64(whole, limit);
    if (whole.type().is_signed_int()) is_large = is_large || whole < u64(whole, -limit);
    const Expr sticky = select((whole & u64(whole, 0xffff)) != u64(whole, 0), u64(whole, 1), u64(whole, 0));
    const Expr squeezed = (whole >> u64(whole, 16)) | sticky;
    const Expr kept = cast(DType::f64, select(is_large, squeezed, whole));
    const Type type = kept.type();
    return f64_to_f32_odd(kept * select(is_large, constant(type, 65536.0), constant(type, 1.0)));
  });
}

}  // namespace ferry::passes
