// The functions of the language as C++ functions of expressions: exp(x), atan2(y, x), popcount(n) and so on, and a few
// that are made of them. Integer arguments of functions on floats become float32.
#pragma once

#include "crosscompile/ir/operators.h"

#include <concepts>
#include <string>
#include <vector>

namespace ferry::lang {

using ir::Expr;

// Templates, so that they do not offer themselves for plain numbers.
#define FERRY_MATH(name, count, kind)                                    \
  template <std::same_as<Expr> First, std::convertible_to<Expr>... Rest> \
    requires(sizeof...(Rest) + 1 == count)                               \
  Expr name(First first, Rest... rest) {                                 \
    return ir::call_math(#name, {first, Expr(rest)...});                 \
  }
#include "crosscompile/ir/math.def"
#undef FERRY_MATH

// min(max(x, low), high)
Expr clamp(Expr x, Expr low, Expr high);
// x * P(X <= x) for a normally distributed X: x / 2 * (1 + erf(x / sqrt(2))). Integers become float32.
Expr gelu(Expr x);

// A C function on numbers by its name in C: "cosf" takes and gives float32, "cos" float64; arguments are converted. In
// a vectorised loop it is called once a lane. CompileError for a name that devices do not offer, with the nearest that
// they do, and for another number of arguments.
Expr extern_call(const std::string& name, std::vector<Expr> arguments);
bool is_extern(const std::string& name);
std::vector<std::string> extern_names();

}  // namespace ferry::lang
