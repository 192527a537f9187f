#include "host/verify/check_expected.h"

#include <algorithm>
#include <cmath>

#include "base/quantity_text.h"
#include "host/lang/reference/reference.h"
#include "host/verify/element_text.h"
#include "host/verify/output_comparison.h"
#include "host/verify/tolerances.h"

namespace ferry::verify {

namespace {

// Whether two integers of any types are the same number: values from 2^63 on exist in u64 alone.
bool are_equal(DType a_type, const lang::Element& a, DType b_type, const lang::Element& b) {
  const auto is_large = [](DType type, const lang::Element& x) { return type == DType::u64 && x.integer < 0; };
  return a.integer == b.integer && is_large(a_type, a) == is_large(b_type, b);
}

bool differs(DType dtype, double got, double want, double allowed, bool is_exact) {
  if (!is_float(dtype)) return !(std::abs(got - want) <= allowed);
  if (std::isnan(got) || std::isnan(want)) return std::isnan(got) != std::isnan(want);
  if (got == want) return is_exact && are_opposite_zeros(got, want);
  // No tolerance explains an infinity.
  return !std::isfinite(got - want) || !(std::abs(got - want) <= allowed);
}

}  // namespace

CheckResult check_expected(const ComputedTensor& computed, const TensorFile& expected, const CheckLimits& limits,
                           const std::string& against) {
  CheckResult result;
  result.output = computed.name;
  result.against = against;
  const std::string got = shape_text(computed.dtype, computed.shape), want = shape_text(expected.dtype, expected.shape);
  const std::size_t size = dtype_bytes(computed.dtype), other = dtype_bytes(expected.dtype);
  result.elements = result.compared = computed.bytes.size() / size;
  if (computed.shape != expected.shape || is_float(computed.dtype) != is_float(expected.dtype)) {
    result.compared = result.elements = std::max<std::uint64_t>(result.elements, 1);
    result.wrong = result.elements;
    result.first_wrong = computed.name + " is " + got + ", expected " + want;
    return result;
  }
  const DType least = default_tolerances(expected.dtype).kernels_rtol > default_tolerances(computed.dtype).kernels_rtol
                          ? expected.dtype
                          : computed.dtype;
  result.rtol = limits.rtol.value_or(limits.atol ? 0 : default_tolerances(least).kernels_rtol);
  // By the expected magnitudes alone: a wrong result does not widen what it is allowed.
  result.atol = limits.atol || limits.rtol ? limits.atol.value_or(0)
                                           : result.rtol * typical_magnitude(expected.dtype, expected.bytes);
  for (std::uint64_t i = 0; i < result.elements; ++i) {
    const lang::Element x = lang::load_element(computed.dtype, computed.bytes.data() + i * size),
                        y = lang::load_element(expected.dtype, expected.bytes.data() + i * other);
    const double g = value_of(computed.dtype, x), w = value_of(expected.dtype, y), error = std::abs(g - w);
    result.nan += std::isnan(g) ? 1 : 0;
    result.nan_expected += std::isnan(w) ? 1 : 0;
    if (std::isfinite(error)) {
      result.largest_absolute = std::max(result.largest_absolute, error);
      if (w != 0) result.largest_relative = std::max(result.largest_relative, error / std::abs(w));
    }
    const bool is_integer = !is_float(computed.dtype);
    if (is_integer && are_equal(computed.dtype, x, expected.dtype, y)) continue;
    if (is_integer) ++result.unequal;
    result.other_zeros += !is_integer && are_opposite_zeros(g, w) ? 1 : 0;
    const double allowed = result.atol + result.rtol * std::abs(w);
    if (is_integer && allowed > 0 && !differs(computed.dtype, g, w, allowed, false)) continue;
    if (!is_integer && !differs(computed.dtype, g, w, allowed, result.rtol == 0 && result.atol == 0)) continue;
    if (result.wrong++ == 0)
      result.first_wrong = position_text(computed.name, computed.shape, i) + " is " + element_text(computed.dtype, x) +
                           ", expected " + element_text(expected.dtype, y);
  }
  return result;
}

}  // namespace ferry::verify
