// C++ operators that build expressions, with the language's implicit conversions: both sides of an operation get the
// wider type (int constants take the other side's type; float with int gives the float). Constant operands fold.
#pragma once

#include "crosscompile/ir/expr.h"

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
Expr operator!(Expr value);
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
