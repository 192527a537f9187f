#include "host/verify/check_outputs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/quantity_text.h"
#include "host/verify/called_definition.h"
#include "host/verify/controls.h"
#include "host/verify/element_text.h"
#include "host/verify/native_comparison.h"
#include "host/verify/product_vectors.h"
#include "host/verify/tolerances.h"
#include "module/float_element.h"

namespace ferry::verify {

namespace {

// Returns by how many times the square-root bound the error of any of so many elements may exceed it, in all but one of
// 10,000 checks: an error is above it c times with a probability of at most 2 exp(-c^2 / 2) (N. Higham and T. Mary, "A
// new approach to probabilistic rounding error analysis", 2019).
double square_root_factor(std::size_t elements) {
  constexpr double kFalseAlarms = 1e-4;
  return std::max(4.0,
                  std::sqrt(2 * std::log(2 * static_cast<double>(std::max<std::size_t>(elements, 1)) / kFalseAlarms)));
}

Tolerance tolerance_for(DType dtype, const CheckLimits& limits, lang::RoundingBound bound) {
  const Tolerances by_type = default_tolerances(dtype);
  // Integers may be floats that were converted.
  Tolerance tolerance{by_type.definition_rtol, by_type.definition_atol, is_float(dtype) ? 4.0 : 1.0};
  if (limits.other_algorithm) tolerance.rtol = std::max(tolerance.rtol, by_type.kernels_rtol);
  // Limits that are meant for usual inputs do not hold for the terms of others.
  if ((limits.rtol || limits.atol) && bound != lang::RoundingBound::exact) tolerance.rounding = 0;
  tolerance.rtol = limits.rtol.value_or(tolerance.rtol);
  tolerance.atol = limits.atol.value_or(tolerance.atol);
  return tolerance;
}

// The compiled definition shares code with the compiler of the kernel, so that the reference evaluates a sample still.
constexpr double kEvaluatedShare = 1.0 / 4;

// Number of elements that the reference evaluates with this effort.
std::uint64_t affordable_elements(const lang::Reference& reference, std::size_t parameter, const CheckEffort& effort,
                                  const lang::Reference* algorithm) {
  const std::uint64_t elements = reference.elements(parameter);
  const double work = reference.work(parameter) + (algorithm != nullptr ? algorithm->work(parameter) : 0);
  const double share = work > 0 ? std::min(1.0, effort.work_limit / work) : 1;
  const auto affordable = static_cast<std::uint64_t>(share * static_cast<double>(elements));
  return std::min(elements, std::max(affordable, effort.least_sample));
}

// Returns all positions, or a sample in order that includes the first and the last. It is another one in each check, so
// that no kernel can know which elements to get right.
std::vector<std::uint64_t> positions_to_check(const lang::Reference& reference, std::size_t parameter,
                                              const CheckEffort& effort, const lang::Reference* algorithm) {
  const std::uint64_t elements = reference.elements(parameter);
  const std::uint64_t count = affordable_elements(reference, parameter, effort, algorithm);
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

// Whether nothing is known of the value that a correct kernel computes.
bool is_unbounded(const lang::Element& expected, lang::RoundingBound bound, const CheckEffort& effort) {
  if (!std::isinf(expected.error)) return false;
  return bound != lang::RoundingBound::exact || !std::isnan(expected.real) || !effort.knows_nan;
}

bool are_equal(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }

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

// Random vectors, which nothing has to be compiled for, may take so many times as long as the compiled definition.
constexpr double kVectorsShare = 2;

// Looks at the elements of a matrix product that the sample has not, all at once.
void check_all_by_vectors(const CalledDefinition& definition, std::size_t parameter, const ParameterInfo& info,
                          const std::vector<std::uint8_t>& bytes, const CheckLimits& limits, double seconds,
                          CheckResult& result) {
  const lang::RoundingBound bound = definition.reference().bound();
  if (result.wrong > 0 || result.compared == result.elements || !is_float(info.dtype)) return;
  if (bound == lang::RoundingBound::exact || definition.plan().strides[parameter].size() > 0) return;
  const std::optional<MatrixProduct> product = product_of(definition.program(), definition.plan(), parameter);
  if (!product) return;
  Tolerance tolerance = tolerance_for(info.dtype, limits, bound);
  if (tolerance.is_exact()) return;
  if (bound == lang::RoundingBound::square_root && tolerance.rounding > 0)
    tolerance.rounding = square_root_factor(result.elements);
  const auto check =
      check_by_vectors(*product, definition.arguments(), info.dtype, bytes, tolerance, bound, kVectorsShare * seconds);
  if (!check) return;
  result.vectors = check->vectors;
  if (!check->wrong_row) return;
  result.wrong = 1;
  result.first_wrong = "an element in the row of " +
                       position_text(info.name, definition.reference().shape(parameter), *check->wrong_row) +
                       " is wrong: random sums of this row are further from those of the definition than rounding "
                       "explains";
}

}  // namespace

CheckResult check_output(const lang::Reference& reference, std::size_t parameter, const ParameterInfo& info,
                         const std::vector<std::uint8_t>& bytes, const CheckLimits& limits, const OutputCheck& how) {
  Tolerance tolerance = tolerance_for(info.dtype, limits, reference.bound());
  const bool has_native =
      how.native != nullptr && how.algorithm == nullptr && how.channels == 0 && !tolerance.is_exact();
  CheckEffort effort = how.effort;
  if (has_native) effort.work_limit *= kEvaluatedShare;
  std::vector<std::uint64_t> positions = positions_to_check(reference, parameter, effort, how.algorithm);
  CheckResult result;
  result.elements = how.channels > 0 ? keep_channels(reference.shape(parameter), how.channels, positions)
                                     : reference.elements(parameter);
  if (reference.bound() == lang::RoundingBound::square_root && tolerance.rounding > 0 && is_float(info.dtype))
    tolerance.rounding = square_root_factor(has_native ? result.elements : positions.size());
  ControlledSum errors;
  const auto add_float = [&](std::uint64_t position, double got, double want) {
    result.nan += std::isnan(got) ? 1 : 0;
    result.nan_expected += std::isnan(want) ? 1 : 0;
    result.other_zeros += are_opposite_zeros(got, want) ? 1 : 0;
    if (how.own == nullptr) return;
    const std::size_t at = position * dtype_bytes(info.dtype);
    errors.add(want, got, load_float(info.dtype, how.own->data() + at),
               load_float(info.dtype, how.rounded->data() + at));
  };
  const auto add_difference = [&](double error, double want) {
    if (!std::isfinite(error)) return;
    result.largest_absolute = std::max(result.largest_absolute, error);
    if (want != 0) result.largest_relative = std::max(result.largest_relative, error / std::abs(want));
  };
  std::uint64_t accepted = 0;
  const std::size_t sampled = positions.size();
  if (has_native)
    accepted = NativeComparison(info, *how.native, bytes, tolerance, reference.bound())
                   .add_rejected(positions, affordable_elements(reference, parameter, how.effort, nullptr),
                                 [&](std::uint64_t position, double got, double want) {
                                   add_float(position, got, want);
                                   add_difference(std::abs(got - want), want);
                                 });
  std::vector<lang::Element> expected = reference.evaluate(parameter, positions), computed;
  if (how.algorithm != nullptr && tolerance.rounding > 0) {
    computed = how.algorithm->evaluate(parameter, positions);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i].error += computed[i].error / tolerance.rounding;
  }
  result.output = info.name;
  result.compared = accepted + positions.size();
  result.rtol = tolerance.rtol;
  result.atol = tolerance.atol;
  result.rounding_factor = tolerance.rounding;
  result.with_rounding = tolerance.rounding > 0 && is_float(info.dtype);
  result.square_root = result.with_rounding && reference.bound() == lang::RoundingBound::square_root;
  const bool allows_no_error = is_float(info.dtype) && reference.bound() == lang::RoundingBound::exact &&
                               !limits.rtol && !limits.atol && !limits.other_algorithm;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const lang::Element got = lang::load_element(info.dtype, bytes.data() + positions[i] * dtype_bytes(info.dtype));
    const double want = value_of(info.dtype, expected[i]);
    const double error = std::abs(value_of(info.dtype, got) - want);
    if (is_float(info.dtype)) add_float(positions[i], got.real, want);
    add_difference(error, want);
    if (!is_float(info.dtype) && got.integer != expected[i].integer) ++result.unequal;
    if (std::isnan(value_of(info.dtype, got)) && !std::isnan(want) && !computed.empty() &&
        std::isnan(value_of(info.dtype, computed[i]))) {
      ++result.nan_of_algorithm;
      continue;
    }
    // Partial sums in another order may have overflowed.
    if (is_float(info.dtype) && tolerance.rounding > 0 && is_unbounded(expected[i], reference.bound(), how.effort)) {
      result.unchecked += value_of(info.dtype, got) == want ? 0 : 1;
      continue;
    }
    const bool is_exact = allows_no_error && expected[i].error == 0;
    result.exact += is_exact ? 1 : 0;
    if (is_exact ? are_equal(got.real, want) : !differs(info.dtype, got, expected[i], tolerance)) continue;
    if (result.wrong++ == 0) {
      result.first_wrong =
          position_text(how.name.empty() ? info.name : how.name, reference.shape(parameter), positions[i]) + " is " +
          printed(info.dtype, got) + ", expected " + printed(info.dtype, expected[i]);
    }
  }
  // Elements that were accepted with such inputs are equal. Whether they had to be, the sample shows.
  if (allows_no_error && result.exact == positions.size() && sampled > 0) result.exact += accepted;
  result.controlled = errors.errors(info.dtype);
  if (result.wrong == 0 && result.controlled && result.controlled->are_too_large()) {
    result.wrong = result.compared;
    result.first_wrong = info.name + " is not as precise as its type: " + text_of(*result.controlled);
  }
  return result;
}

std::vector<CheckResult> check_outputs(const lang::Program& program, const FunctionInfo& function, const CallPlan& plan,
                                       const std::vector<std::vector<std::uint8_t>>& outputs,
                                       const CheckLimits& limits) {
  const CalledDefinition definition(program, function, plan, bound_of(function, plan));
  return check_outputs(definition, function, outputs, limits);
}

std::vector<CheckResult> check_outputs(const CalledDefinition& definition, const FunctionInfo& function,
                                       const std::vector<std::vector<std::uint8_t>>& outputs, const CheckLimits& limits,
                                       const CheckEffort& effort, const ControlOutputs* controls) {
  const std::vector<NativeOutput>* const native = definition.native_outputs(effort.native_seconds);
  std::vector<CheckResult> results;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    if (function.parameters[p].direction == Direction::in) continue;
    OutputCheck how{.effort = effort};
    if (controls != nullptr) {
      how.own = &controls->own[p];
      how.rounded = &controls->rounded[p];
    }
    if (native != nullptr) how.native = &(*native)[p];
    results.push_back(check_output(definition.reference(), p, function.parameters[p], outputs[p], limits, how));
    check_all_by_vectors(definition, p, function.parameters[p], outputs[p], limits, effort.native_seconds,
                         results.back());
  }
  return results;
}

}  // namespace ferry::verify
