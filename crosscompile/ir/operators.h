// C++ operators that build expressions, with the language's implicit conversions: both sides of an operation get the
// wider type.
//   - a constant takes the other side's type when it can: an integer any number type that holds it (CompileError when
//   the value does
//     not fit), a float any float type
//   - float with int gives the float; float16 with bfloat16 gives float32
//   - a signed with an unsigned integer gives the signed one of the larger width
//   - a scalar with a vector is broadcast
// Constant operands fold; so do x + 0, x * 1 and their like on integers, and && and || with a constant.
// Shifts convert the right side to the left side's type.
//
// Beware: where this header is included, `!`, `==` and `&&` on handles build expressions; ask a handle with defined()
// and same_as().
#pragma once

#include "crosscompile/ir/expr.h"

#include <concepts>
#include <string>
#include <vector>

namespace ferry::ir {

// The type both sides are converted to. Throws CompileError when one is refused (bool in arithmetic).
Type common_type(Type left, Type right);

Expr operator+(Expr left, Expr right);
Expr operator-(Expr left, Expr right);
Expr operator*(Expr left, Expr right);
Expr operator/(Expr left, Expr right);  // floor for integers
Expr operator%(Expr left, Expr right);  // floor
Expr operator-(Expr value);
Expr operator&(Expr left, Expr right);
Expr operator|(Expr left, Expr right);
Expr operator^(Expr left, Expr right);
Expr operator~(Expr value);
Expr operator<<(Expr left, Expr right);
Expr operator>>(Expr left, Expr right);
Expr operator==(Expr left, Expr right);
Expr operator!=(Expr left, Expr right);
Expr operator<(Expr left, Expr right);
Expr operator<=(Expr left, Expr right);
Expr operator>(Expr left, Expr right);
Expr operator>=(Expr left, Expr right);
Expr operator&&(Expr left, Expr right);
Expr operator||(Expr left, Expr right);
Expr logical_not(const Expr& value);
// A template, so that it does not offer itself for the smart pointers that convert to Expr.
template <std::same_as<Expr> E>
Expr operator!(const E& value) {
  return logical_not(value);
}
Expr min(Expr left, Expr right);
Expr max(Expr left, Expr right);
Expr select(Expr condition, Expr on_true, Expr on_false);
Expr if_then_else(Expr condition, Expr on_true, Expr on_false);
Expr cast(DType to, Expr value);
// A function of math.def by name. Integer arguments of a float_only function become f32.
Expr call_math(const std::string& name, std::vector<Expr> arguments);
Expr ceil_div(Expr left, Expr right);

// A constant of this type (and lanes).
Expr constant(Type type, double value);
Expr constant(Type type, std::int64_t value);
bool is_constant(const Expr& expr, std::int64_t value);
// The value when the expression is an integer constant (or its broadcast).
const std::int64_t* as_int(const Expr& expr);

}  // namespace ferry::ir
