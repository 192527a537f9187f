#include "host/lang/reference/float_sum.h"

#include "crosscompile/ir/arithmetic.h"
#include "host/lang/reference/lanes.h"

#include <cmath>
#include <limits>

namespace ferry::lang {

namespace {

// Returns the largest power of two of which a finite number is a multiple; it is not 0.
double power_of_two_in(double number) {
  int exponent = 0;
  const double fraction = std::frexp(number, &exponent);
  const auto digits = static_cast<std::int64_t>(std::ldexp(fraction, 53));
  return std::ldexp(static_cast<double>(digits & -digits), exponent - 53);
}

}  // namespace

double largest_of(DType accumulator) {
  return accumulator == DType::f64 ? std::numeric_limits<double>::max() : double{std::numeric_limits<float>::max()};
}

void FloatSum::add(double term, double error) {
  // The rounding error of an addition is itself a float64 (D. Knuth, TwoSum).
  const double sum = sum_ + term, other = sum - sum_;
  rest_ += (sum_ - (sum - other)) + (term - other);
  sum_ = sum;
  sizes_ += std::fabs(term);
  errors_ += error;
  ++terms_;
  if (bound_ == RoundingBound::worst_case) return;
  if (bound_ == RoundingBound::exact) {
    if (!std::isfinite(term) || term == 0) return;
    finite_sizes_ += std::fabs(term);
    common_factor_ = std::fmin(common_factor_, power_of_two_in(term));
    return;
  }
  squares_ += term * term;
  squared_errors_ += error * error;
  largest_partial_ = std::fmax(largest_partial_, std::fabs(sum_));
  const double independent = kIndependentRoundings * unit_roundoff(accumulator_) * std::fabs(term);
  has_large_errors_ = has_large_errors_ || error > independent + 2 * smallest_error(accumulator_);
}

// The errors of the terms and of so many additions.
double FloatSum::additions_error(double additions) const {
  const double unit = unit_roundoff(accumulator_), least = additions * smallest_error(accumulator_);
  if (bound_ != RoundingBound::square_root || additions * unit > kMostIndependent)
    return errors_ + additions * unit * sizes_ + least;
  const double partial = std::fmax(largest_partial_, std::sqrt(squares_));
  return (has_large_errors_ ? errors_ : std::sqrt(squared_errors_)) + std::sqrt(additions) * unit * partial + least;
}

bool FloatSum::is_exact() const {
  if (bound_ != RoundingBound::exact || errors_ != 0) return false;
  if (!std::isfinite(sizes_)) return finite_sizes_ <= largest_of(accumulator_) / 2;
  return finite_sizes_ * unit_roundoff(accumulator_) <= common_factor_ && finite_sizes_ <= largest_of(accumulator_) / 2;
}

Element FloatSum::result(DType type) const {
  // The compensation term is meaningless for infinities and NaN.
  const double exact = std::isfinite(sum_) ? sum_ + rest_ : sum_;
  Element element;
  element.real = ir::round_to(type, exact);
  if (is_exact() && (element.real == exact || std::isnan(exact))) return element;
  const double additions = terms_ > 1 ? static_cast<double>(terms_ - 1) : 0;
  element.error = additions_error(additions);
  if (accumulator_ != type || additions > 0)
    element.error += unit_roundoff(type) * std::fabs(element.real) + smallest_error(type);
  if (std::isfinite(sizes_) && sizes_ > largest_of(accumulator_) / 2) element.error = HUGE_VAL;
  if (bound_ == RoundingBound::exact && std::isnan(element.error)) element.error = HUGE_VAL;
  return element;
}

}  // namespace ferry::lang
