#include "host/verify/output_comparison.h"

#include <algorithm>
#include <cmath>

#include "host/stats/summary.h"
#include "host/verify/element_text.h"
#include "host/verify/tolerances.h"
#include "module/element_difference.h"

namespace ferry::verify {

namespace {

// More elements do not change a median by much.
constexpr std::size_t kMostForMedian = 1 << 16;

}  // namespace

double typical_magnitude(DType dtype, std::span<const std::uint8_t> bytes) {
  const std::size_t size = dtype_bytes(dtype), step = std::max<std::size_t>(1, bytes.size() / size / kMostForMedian);
  std::vector<double> magnitudes;
  for (std::size_t at = 0; at < bytes.size(); at += step * size) {
    const double value = std::abs(element_value(dtype, bytes.data() + at));
    if (std::isfinite(value) && value > 0) magnitudes.push_back(value);
  }
  return magnitudes.empty() ? 0 : stats::median(magnitudes);
}

AppliedLimits applied_limits(DType dtype, std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                             const DifferenceLimits& limits) {
  AppliedLimits applied{limits.rtol.value_or(limits.atol ? 0 : default_tolerances(dtype).kernels_rtol),
                        limits.atol.value_or(0)};
  // The smaller one: what a kernel computes wrongly does not widen what it is allowed.
  if (!limits.atol && !limits.rtol && applied.rtol > 0)
    applied.atol = applied.rtol * std::min(typical_magnitude(dtype, a), typical_magnitude(dtype, b));
  return applied;
}

OutputComparison compare_outputs(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                                 std::span<const std::uint8_t> a, std::span<const std::uint8_t> b,
                                 const DifferenceLimits& limits) {
  const std::size_t size = dtype_bytes(dtype);
  OutputComparison result;
  result.output = name;
  result.elements = a.size() / size;
  const AppliedLimits applied = applied_limits(dtype, a, b, limits);
  result.rtol = applied.rtol;
  result.atol = applied.atol;
  for (std::size_t at = 0; at < a.size(); at += size) {
    const lang::Element x = lang::load_element(dtype, a.data() + at), y = lang::load_element(dtype, b.data() + at);
    const double difference = std::abs(value_of(dtype, x) - value_of(dtype, y));
    result.nan[0] += std::isnan(value_of(dtype, x)) ? 1 : 0;
    result.nan[1] += std::isnan(value_of(dtype, y)) ? 1 : 0;
    result.other_zeros += is_float(dtype) && are_opposite_zeros(x.real, y.real) ? 1 : 0;
    if (std::isfinite(difference)) result.largest_difference = std::max(result.largest_difference, difference);
    if (!elements_differ(dtype, a.data() + at, b.data() + at, result.rtol, result.atol)) continue;
    if (result.different++ == 0) {
      result.first_difference =
          position_text(name, shape, at / size) + " " + element_text(dtype, x) + " against " + element_text(dtype, y);
    }
  }
  return result;
}

}  // namespace ferry::verify
