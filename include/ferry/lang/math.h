// The functions of the language as C++ functions on expressions: exp(x), atan2(y, x), popcount(n) and so on, and some
// composed of them. Integer arguments of floating-point functions become float32.
#pragma once

#include "ferry/operators.h"

#include <concepts>
#include <string>
#include <vector>

namespace ferry::lang {

using ir::Expr;

// Templates, so that they are not candidates for plain numbers: at least one argument must be an expression.
#define FERRY_MATH(name, count, kind)                                                                             \
  template <std::convertible_to<ir::ExprOrLiteral>... Argument>                                                   \
    requires(sizeof...(Argument) == count && (std::same_as<Argument, Expr> || ...))                               \
  Expr name(const Argument&... argument) {                                                                        \
    return ir::call_math(ir::MathFunction::name, std::vector<ir::ExprOrLiteral>{ir::ExprOrLiteral(argument)...}); \
  }
#include "ferry/math.def"
#undef FERRY_MATH

// min(max(x, low), high)
Expr clamp(const ir::ExprOrLiteral& x, const ir::ExprOrLiteral& low, const ir::ExprOrLiteral& high);
// x * P(X <= x) for a standard normal X: x / 2 * (1 + erf(x / sqrt(2))). Integers become float32.
Expr gelu(Expr x);

// Calls a C function on numbers by its C name: "cosf" takes and returns float32, "cos" float64; arguments are
// converted. A vectorised loop calls it once per lane. Throws CompileError for a wrong number of arguments and for a
// name that devices do not offer, suggesting the nearest one.
Expr extern_call(const std::string& name, std::vector<Expr> arguments);
bool is_extern(const std::string& name);
std::vector<std::string> extern_names();

}  // namespace ferry::lang
