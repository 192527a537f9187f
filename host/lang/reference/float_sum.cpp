#include "host/lang/reference/float_sum.h"

#include "crosscompile/ir/arithmetic.h"
#include "host/lang/reference/lanes.h"

#include <cmath>
#include <limits>

namespace ferry::lang {

namespace {

double largest(DType type) {
  return type == DType::f64 ? std::numeric_limits<double>::max() : double{std::numeric_limits<float>::max()};
}

}  // namespace

void FloatSum::add(double term, double error) {
  // The rounding error of an addition is itself a float64 (D. Knuth, TwoSum).
  const double sum = sum_ + term, other = sum - sum_;
  rest_ += (sum_ - (sum - other)) + (term - other);
  sum_ = sum;
  sizes_ += std::fabs(term);
  errors_ += error;
  ++terms_;
}

Element FloatSum::result(DType accumulator, DType type) const {
  // The compensation term is meaningless for infinities and NaN.
  const double exact = std::isfinite(sum_) ? sum_ + rest_ : sum_;
  Element element;
  element.real = ir::round_to(type, exact);
  const double additions = terms_ > 1 ? static_cast<double>(terms_ - 1) : 0;
  const double unit = unit_roundoff(accumulator);
  element.error = errors_ + additions * (unit * sizes_ + smallest_error(accumulator));
  if (accumulator != type || additions > 0)
    element.error += unit_roundoff(type) * std::fabs(element.real) + smallest_error(type);
  if (std::isfinite(sizes_) && sizes_ > largest(accumulator) / 2) element.error = HUGE_VAL;
  return element;
}

}  // namespace ferry::lang
