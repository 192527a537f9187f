#include "host/graph/onnx/fold_ratios.h"

#include <cmath>
#include <cstdlib>

namespace ferry::graph::onnx {
namespace {

using Folded = std::optional<Element>;

// Greater denominators and factors are not those of strides and scales.
constexpr std::int64_t kMaxFactor = std::int64_t{1} << 20;

// Narrower types do not hold sizes.
bool is_wide(DType dtype) { return dtype == DType::f32 || dtype == DType::f64; }

// Returns the quotient of the two, as a number if it does not depend on sizes.
Folded quotient(Size numerator, std::int64_t denominator, DType type) {
  if (const std::optional<Size> whole = divide_exactly(numerator, denominator)) numerator = *whole, denominator = 1;
  for (; denominator % 2 == 0; denominator /= 2) {
    const std::optional<Size> half = divide_exactly(numerator, 2);
    if (!half) break;
    numerator = *half;
  }
  if (const std::optional<std::int64_t> number = numerator.constant())
    return rounded(type, static_cast<double>(*number) / static_cast<double>(denominator));
  return denominator <= kMaxFactor ? Folded(Ratio{numerator, denominator}) : std::nullopt;
}

Size rounded_down(const Ratio& ratio) { return floor_divide(ratio.numerator, ratio.denominator); }
Size rounded_up(const Ratio& ratio) {
  return floor_divide(ratio.numerator + (ratio.denominator - 1), ratio.denominator);
}

Folded divided(const Ratio& a, const Ratio& b, DType type) {
  const Size numerator = a.numerator * b.denominator, denominator = b.numerator * a.denominator;
  if (const std::optional<std::int64_t> number = denominator.constant()) {
    if (*number == 0 || std::abs(*number) > kMaxFactor) return std::nullopt;
    return *number > 0 ? quotient(numerator, *number, type) : quotient(Size(0) - numerator, -*number, type);
  }
  const std::optional<Size> whole = divide_exactly(numerator, denominator);
  return whole ? quotient(*whole, 1, type) : std::nullopt;
}

Folded multiplied(const Ratio& a, const Ratio& b, DType type) {
  if (a.denominator > kMaxFactor / b.denominator) return std::nullopt;
  return quotient(a.numerator * b.numerator, a.denominator * b.denominator, type);
}

// Computes with two quotients over the same denominator.
Folded over_one_denominator(Operator op, const Ratio& a, const Ratio& b, DType type) {
  if (a.denominator > kMaxFactor / b.denominator) return std::nullopt;
  const std::int64_t denominator = a.denominator * b.denominator;
  const Size left = a.numerator * b.denominator, right = b.numerator * a.denominator;
  if (op == Operator::add) return quotient(left + right, denominator, type);
  if (op == Operator::sub) return quotient(left - right, denominator, type);
  if (op == Operator::minimum) return quotient(min(left, right), denominator, type);
  if (op == Operator::maximum) return quotient(max(left, right), denominator, type);
  if (op == Operator::equal) return truth(left == right, proves_different(left, right));
  if (op == Operator::less) return truth(proves_less(left, right), proves_less(right, left + 1));
  if (op == Operator::less_equal) return truth(proves_less(left, right + 1), proves_less(right, left));
  return std::nullopt;
}

Folded of_one(Operator op, const Ratio& ratio, DType type) {
  if (op == Operator::floor) return quotient(rounded_down(ratio), 1, type);
  if (op == Operator::ceil) return quotient(rounded_up(ratio), 1, type);
  if (op == Operator::round && ratio.denominator == 1) return ratio;
  if (op == Operator::neg) return Ratio{Size(0) - ratio.numerator, ratio.denominator};
  if (op == Operator::relu) return quotient(max(ratio.numerator, 0), ratio.denominator, type);
  return std::nullopt;
}

std::optional<Ratio> as_ratio(const Element& element) {
  if (const auto* ratio = std::get_if<Ratio>(&element)) return *ratio;
  const auto* real = std::get_if<double>(&element);
  return real != nullptr ? ratio_of(*real) : std::nullopt;
}

}  // namespace

std::optional<Ratio> ratio_of(double value) {
  for (std::int64_t denominator = 1; denominator <= kMaxFactor; denominator *= 2) {
    const double numerator = value * static_cast<double>(denominator);
    if (!(std::fabs(numerator) <= static_cast<double>(kMaxFactor))) return std::nullopt;
    if (std::floor(numerator) == numerator) return Ratio{static_cast<std::int64_t>(numerator), denominator};
  }
  return std::nullopt;
}

std::optional<Element> cast_ratio(const Ratio& ratio, DType to) {
  if (is_float(to)) return is_wide(to) ? Folded(ratio) : std::nullopt;
  if (to == DType::boolean) return std::nullopt;
  return divide_towards_zero(ratio.numerator, ratio.denominator);
}

std::optional<Element> fold_ratios(Operator op, std::span<const Element> operands, DType type) {
  if (!is_wide(type)) return std::nullopt;
  std::vector<Ratio> ratios;
  for (const Element& operand : operands) {
    const std::optional<Ratio> ratio = as_ratio(operand);
    if (!ratio) return std::nullopt;
    ratios.push_back(*ratio);
  }
  if (ratios.size() == 1) return of_one(op, ratios[0], type);
  if (op == Operator::mul) return multiplied(ratios[0], ratios[1], type);
  if (op == Operator::div) return divided(ratios[0], ratios[1], type);
  return over_one_denominator(op, ratios[0], ratios[1], type);
}

}  // namespace ferry::graph::onnx
