#include "host/verify/output_comparison.h"

#include <algorithm>
#include <cmath>

#include "host/verify/element_text.h"
#include "host/verify/tolerances.h"

namespace ferry::verify {

namespace {

double largest_magnitude(DType dtype, std::span<const std::uint8_t> bytes) {
  double largest = 0;
  for (std::size_t at = 0; at < bytes.size(); at += dtype_bytes(dtype)) {
    const double value = std::abs(value_of(dtype, lang::load_element(dtype, bytes.data() + at)));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

bool differs(DType dtype, const lang::Element& a, const lang::Element& b, const OutputComparison& allowed) {
  const double x = value_of(dtype, a), y = value_of(dtype, b);
  // Integers are compared exactly: conversion to double loses the last bits of large ones.
  if (!is_float(dtype) && a.integer == b.integer) return false;
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) != std::isnan(y);
  if (is_float(dtype) && x == y) return allowed.atol == 0 && allowed.rtol == 0 && are_opposite_zeros(x, y);
  const double limit = allowed.atol + allowed.rtol * std::max(std::abs(x), std::abs(y));
  if (!is_float(dtype) && limit == 0) return true;
  // Rounding does not explain the difference between an infinity and a number, or between opposite infinities.
  return std::isinf(x) || std::isinf(y) || !(std::abs(x - y) <= limit);
}

}  // namespace

OutputComparison compare_outputs(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                                 std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                 const DifferenceLimits& limits) {
  const std::size_t size = dtype_bytes(dtype);
  OutputComparison result;
  result.output = name;
  result.elements = a.size() / size;
  result.rtol = limits.rtol.value_or(limits.atol ? 0 : default_tolerances(dtype).kernels_rtol);
  if (limits.atol) {
    result.atol = *limits.atol;
  } else if (!limits.rtol && result.rtol > 0) {
    result.atol = result.rtol * std::max(largest_magnitude(dtype, a), largest_magnitude(dtype, b));
  }
  for (std::size_t at = 0; at < a.size(); at += size) {
    const lang::Element x = lang::load_element(dtype, a.data() + at), y = lang::load_element(dtype, b.data() + at);
    const double difference = std::abs(value_of(dtype, x) - value_of(dtype, y));
    result.nan[0] += std::isnan(value_of(dtype, x)) ? 1 : 0;
    result.nan[1] += std::isnan(value_of(dtype, y)) ? 1 : 0;
    result.other_zeros += is_float(dtype) && are_opposite_zeros(x.real, y.real) ? 1 : 0;
    if (std::isfinite(difference)) result.largest_difference = std::max(result.largest_difference, difference);
    if (!differs(dtype, x, y, result)) continue;
    if (result.different++ == 0) {
      result.first_difference =
          position_text(name, shape, at / size) + " " + element_text(dtype, x) + " against " + element_text(dtype, y);
    }
  }
  return result;
}

}  // namespace ferry::verify
