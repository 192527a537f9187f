#include "tests/unit/crosscompile/passes/lower_math/reference.h"

#include <algorithm>

namespace ferry::math_test {

const std::vector<Reference>& references() {
  using D = double;
  static const std::vector<Reference> all{
      {"exp", [](D x) { return std::exp(x); }, nullptr, 2},
      {"exp2", [](D x) { return std::exp2(x); }, nullptr, 2},
      {"expm1", [](D x) { return std::expm1(x); }, nullptr, 4},
      {"log", [](D x) { return std::log(x); }, nullptr, 4},
      {"log2", [](D x) { return std::log2(x); }, nullptr, 4},
      {"log1p", [](D x) { return std::log1p(x); }, nullptr, 4},
      {"sin", [](D x) { return std::sin(x); }, nullptr, 4},
      {"cos", [](D x) { return std::cos(x); }, nullptr, 4},
      {"tan", [](D x) { return std::tan(x); }, nullptr, 4},
      {"sinh", [](D x) { return std::sinh(x); }, nullptr, 4},
      {"cosh", [](D x) { return std::cosh(x); }, nullptr, 4},
      {"tanh", [](D x) { return std::tanh(x); }, nullptr, 4},
      {"asin", [](D x) { return std::asin(x); }, nullptr, 4},
      {"acos", [](D x) { return std::acos(x); }, nullptr, 4},
      {"atan", [](D x) { return std::atan(x); }, nullptr, 4},
      {"sigmoid", [](D x) { return 1 / (1 + std::exp(-x)); }, nullptr, 4},
      {"erf", [](D x) { return std::erf(x); }, nullptr, 4},
      {"floor", [](D x) { return std::floor(x); }, nullptr, 0},
      {"ceil", [](D x) { return std::ceil(x); }, nullptr, 0},
      {"round", [](D x) { return std::round(x); }, nullptr, 0},
      {"round_even", [](D x) { return std::nearbyint(x); }, nullptr, 0},
      {"trunc", [](D x) { return std::trunc(x); }, nullptr, 0},
      {"atan2", nullptr, [](D y, D x) { return std::atan2(y, x); }, 4},
      {"pow", nullptr, [](D x, D y) { return std::pow(x, y); }, 4},
  };
  return all;
}

double error_in_ulps(double expected, float got) {
  const float nearest = static_cast<float>(expected);
  if (std::isnan(nearest) || std::isnan(got)) return std::isnan(nearest) && std::isnan(got) ? 0 : HUGE_VAL;
  if (nearest == got) return std::signbit(nearest) == std::signbit(got) ? 0 : HUGE_VAL;
  // Infinity is treated as the power of two that follows the largest number.
  const auto finite = [](double value) { return std::isinf(value) ? std::copysign(0x1p128, value) : value; };
  const double want = std::isinf(expected) || std::isinf(nearest) ? finite(nearest) : expected;
  const int exponent = std::max(std::ilogb(std::min(std::fabs(finite(nearest)), 0x1.fffffep127)), -126);
  const double unit = std::ldexp(1.0, (nearest == 0 ? -126 : exponent) - 23);
  return std::fabs(want - finite(got)) / unit;
}

}  // namespace ferry::math_test
