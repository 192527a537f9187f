#include "host/verify/check_outputs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/quantity_text.h"
#include "host/client/scalar.h"
#include "host/verify/element_text.h"
#include "host/verify/tolerances.h"

namespace ferry::verify {

namespace {

constexpr std::uint64_t kLeastSample = 1000;

struct Tolerance {
  double rtol = 0, atol = 0;
  // Factor of the rounding error of the element's terms that is allowed in addition.
  double rounding = 0;

  bool is_exact() const { return rtol == 0 && atol == 0 && rounding == 0; }
};

Tolerance tolerance_for(DType dtype, const CheckLimits& limits) {
  const Tolerances by_type = default_tolerances(dtype);
  // Integers may be floats that were converted.
  Tolerance tolerance{by_type.definition_rtol, by_type.definition_atol, is_float(dtype) ? 4.0 : 1.0};
  if (limits.other_algorithm) tolerance.rtol = std::max(tolerance.rtol, by_type.kernels_rtol);
  if (limits.rtol || limits.atol) tolerance.rounding = 0;
  tolerance.rtol = limits.rtol.value_or(tolerance.rtol);
  tolerance.atol = limits.atol.value_or(tolerance.atol);
  return tolerance;
}

// Errors of sums cancel if there is nothing regular in their terms.
lang::RoundingBound bound_of(const FunctionInfo& function, const CallPlan& plan) {
  bool reads_floats = false;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    const ParameterInfo& parameter = function.parameters[p];
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::out) continue;
    if (!is_float(plan.dtypes[p])) continue;
    if (!plan.contents[p].is_random()) return lang::RoundingBound::worst_case;
    reads_floats = true;
  }
  return reads_floats ? lang::RoundingBound::square_root : lang::RoundingBound::worst_case;
}

// Returns all positions, or a sample in order that includes the first and the last. It is another one in each check, so
// that no kernel can know which elements to get right.
std::vector<std::uint64_t> positions_to_check(const lang::Reference& reference, std::size_t parameter,
                                              double work_limit, const lang::Reference* algorithm) {
  const std::uint64_t elements = reference.elements(parameter);
  const double work = reference.work(parameter) + (algorithm != nullptr ? algorithm->work(parameter) : 0);
  const double share = work > 0 ? std::min(1.0, work_limit / work) : 1;
  const auto affordable = static_cast<std::uint64_t>(share * static_cast<double>(elements));
  const std::uint64_t count = std::min(elements, std::max(affordable, kLeastSample));
  std::vector<std::uint64_t> positions;
  if (count == elements) {
    positions.resize(elements);
    std::iota(positions.begin(), positions.end(), 0);
    return positions;
  }
  std::random_device device;
  std::mt19937_64 random(std::uint64_t{device()} << 32 | device());
  positions = {0, elements - 1};
  while (positions.size() < count) {
    while (positions.size() < count) positions.push_back(random() % elements);
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  }
  return positions;
}

// Whether the values differ by more than is allowed. Equal integers are recognised without conversion to double, which
// loses the last bits of large ones.
bool differs(DType dtype, const lang::Element& got, const lang::Element& want, const Tolerance& tolerance) {
  const double g = value_of(dtype, got), w = value_of(dtype, want);
  const double allowed = tolerance.atol + tolerance.rtol * std::abs(w) + tolerance.rounding * want.error;
  if (!is_float(dtype)) return got.integer != want.integer && !(std::abs(g - w) <= allowed && allowed > 0);
  if (std::isnan(g) || std::isnan(w)) return std::isnan(g) != std::isnan(w);
  if (g == w) return tolerance.is_exact() && are_opposite_zeros(g, w);
  return !(std::abs(g - w) <= allowed);
}

std::string printed(DType dtype, const lang::Element& element) {
  if (!is_float(dtype)) {
    return dtype == DType::u64 ? std::to_string(static_cast<std::uint64_t>(element.integer))
                               : std::to_string(element.integer);
  }
  const bool is_negative_zero = element.real == 0 && std::signbit(element.real);
  return (is_negative_zero ? "-" : "") + number_text(element.real, dtype == DType::f64 ? 17 : 9);
}

// Removes the positions of lanes past the channels of images [N, blocks, H, W, lanes]. Returns the number of elements
// that are left of all.
std::uint64_t keep_channels(const std::vector<std::int64_t>& shape, std::int64_t channels,
                            std::vector<std::uint64_t>& positions) {
  const auto pixels = static_cast<std::uint64_t>(shape.at(2) * shape.at(3)),
             lanes = static_cast<std::uint64_t>(shape.at(4));
  const auto blocks = static_cast<std::uint64_t>(shape.at(1));
  std::erase_if(positions, [&](std::uint64_t position) {
    const std::uint64_t lane = position % lanes, block = position / lanes / pixels % blocks;
    return block * lanes + lane >= static_cast<std::uint64_t>(channels);
  });
  return static_cast<std::uint64_t>(shape.at(0) * channels) * pixels;
}

}  // namespace

CheckResult check_output(const lang::Reference& reference, std::size_t parameter, const ParameterInfo& info,
                         const std::vector<std::uint8_t>& bytes, const CheckLimits& limits, const OutputCheck& how) {
  const Tolerance tolerance = tolerance_for(info.dtype, limits);
  std::vector<std::uint64_t> positions = positions_to_check(reference, parameter, how.work_limit, how.algorithm);
  CheckResult result;
  result.elements = how.channels > 0 ? keep_channels(reference.shape(parameter), how.channels, positions)
                                     : reference.elements(parameter);
  std::vector<lang::Element> expected = reference.evaluate(parameter, positions), computed;
  if (how.algorithm != nullptr && tolerance.rounding > 0) {
    computed = how.algorithm->evaluate(parameter, positions);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i].error += computed[i].error / tolerance.rounding;
  }
  result.output = info.name;
  result.compared = positions.size();
  result.rtol = tolerance.rtol;
  result.atol = tolerance.atol;
  result.with_rounding = tolerance.rounding > 0 && is_float(info.dtype);
  result.square_root = result.with_rounding && reference.bound() == lang::RoundingBound::square_root;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const lang::Element got = lang::load_element(info.dtype, bytes.data() + positions[i] * dtype_bytes(info.dtype));
    const double want = value_of(info.dtype, expected[i]);
    const double error = std::abs(value_of(info.dtype, got) - want);
    result.nan += std::isnan(value_of(info.dtype, got)) ? 1 : 0;
    result.nan_expected += std::isnan(want) ? 1 : 0;
    result.other_zeros += is_float(info.dtype) && are_opposite_zeros(got.real, want) ? 1 : 0;
    if (std::isfinite(error)) {
      result.largest_absolute = std::max(result.largest_absolute, error);
      if (want != 0) result.largest_relative = std::max(result.largest_relative, error / std::abs(want));
    }
    if (!is_float(info.dtype) && got.integer != expected[i].integer) ++result.unequal;
    if (std::isnan(value_of(info.dtype, got)) && !std::isnan(want) && !computed.empty() &&
        std::isnan(value_of(info.dtype, computed[i]))) {
      ++result.nan_of_algorithm;
      continue;
    }
    // Partial sums in another order may have overflowed.
    if (is_float(info.dtype) && tolerance.rounding > 0 && std::isinf(expected[i].error)) {
      result.unchecked += value_of(info.dtype, got) == want ? 0 : 1;
      continue;
    }
    if (!differs(info.dtype, got, expected[i], tolerance)) continue;
    if (result.wrong++ == 0) {
      result.first_wrong =
          position_text(how.name.empty() ? info.name : how.name, reference.shape(parameter), positions[i]) + " is " +
          printed(info.dtype, got) + ", expected " + printed(info.dtype, expected[i]);
    }
  }
  return result;
}

std::vector<CheckResult> check_outputs(const lang::Program& program, const FunctionInfo& function, const CallPlan& plan,
                                       const std::vector<std::vector<std::uint8_t>>& outputs,
                                       const CheckLimits& limits) {
  std::vector<std::vector<std::uint8_t>> inputs(function.parameters.size());
  std::vector<std::uint64_t> scalars(function.parameters.size());
  std::vector<const void*> arguments(function.parameters.size(), nullptr);
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    if (plan.scalars[p]) {
      scalars[p] = session::scalar_bits(function, p, *plan.scalars[p]);
      arguments[p] = &scalars[p];
    } else if (function.parameters[p].direction != Direction::out) {
      inputs[p] = plan.host_copy(p);
      arguments[p] = inputs[p].data();
    }
  }
  const lang::Reference reference(program, plan.symbols, arguments, bound_of(function, plan));
  std::vector<CheckResult> results;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    if (function.parameters[p].direction == Direction::in) continue;
    results.push_back(check_output(reference, p, function.parameters[p], outputs[p], limits));
  }
  return results;
}

}  // namespace ferry::verify
