#include "crosscompile/ir/math_eval.h"

#include "crosscompile/ir/error.h"

#include <cmath>

namespace ferry::ir {
namespace {

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }

}  // namespace

RealFunction real_function(MathFunction function) {
  // Functions of one argument and of two, wrapped to take three.
#define FERRY_ONE(name, expression) \
  case MathFunction::name: return [](double x, double, double) -> double { return expression; };
#define FERRY_TWO(name, expression) \
  case MathFunction::name: return [](double x, double y, double) -> double { return expression; };
  switch (function) {
    FERRY_ONE(abs, std::fabs(x))
    FERRY_ONE(exp, std::exp(x))
    FERRY_ONE(exp2, std::exp2(x))
    FERRY_ONE(log, std::log(x))
    FERRY_ONE(log2, std::log2(x))
    FERRY_ONE(log1p, std::log1p(x))
    FERRY_ONE(expm1, std::expm1(x))
    FERRY_ONE(sqrt, std::sqrt(x))
    FERRY_ONE(rsqrt, 1 / std::sqrt(x))
    FERRY_ONE(sin, std::sin(x))
    FERRY_ONE(cos, std::cos(x))
    FERRY_ONE(tan, std::tan(x))
    FERRY_ONE(tanh, std::tanh(x))
    FERRY_ONE(sinh, std::sinh(x))
    FERRY_ONE(cosh, std::cosh(x))
    FERRY_ONE(asin, std::asin(x))
    FERRY_ONE(acos, std::acos(x))
    FERRY_ONE(atan, std::atan(x))
    FERRY_TWO(atan2, std::atan2(x, y))
    FERRY_ONE(sigmoid, sigmoid(x))
    FERRY_ONE(erf, std::erf(x))
    FERRY_TWO(pow, std::pow(x, y))
    FERRY_TWO(fmod, std::fmod(x, y))
    FERRY_ONE(floor, std::floor(x))
    FERRY_ONE(ceil, std::ceil(x))
    FERRY_ONE(round, std::round(x))
    FERRY_ONE(round_even, std::nearbyint(x))
    FERRY_ONE(trunc, std::trunc(x))
    case MathFunction::fma: return [](double x, double y, double z) -> double { return std::fma(x, y, z); };
    case MathFunction::popcount:
    case MathFunction::clz: return nullptr;
  }
#undef FERRY_ONE
#undef FERRY_TWO
  throw InternalError("real_function: unknown function");
}

std::optional<MathFunction> find_c_math(std::string_view name, DType type) {
  if (type == DType::f32 && name.ends_with('f')) name.remove_suffix(1);
  return name == "roundeven" ? MathFunction::round_even : find_math(name);
}

}  // namespace ferry::ir
