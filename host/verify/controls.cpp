#include "host/verify/controls.h"

#include <algorithm>
#include <cmath>

#include "base/quantity_text.h"
#include "host/kernel/kernel_failure.h"
#include "host/lang/reference/lanes.h"
#include "host/verify/probe_inputs.h"
#include "host/verify/same_call.h"
#include "module/float_element.h"

namespace ferry::verify {

namespace {

constexpr std::uint64_t kFewElements = 100;
// Sums of random terms one after the other err about as many times as much as ferry's, which are of several hundred
// partial sums at most, as the square root of their number.
constexpr double kCarelessOrder = 32;

double round_to_bits(double value, int bits) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

}  // namespace

int bits_below(DType dtype) {
  switch (dtype) {
    case DType::f64: return 24;  // float32
    case DType::f32: return 11;  // float16, TF32
    case DType::f16: return 8;   // bfloat16
    default: return 4;           // float8 (E4M3)
  }
}

std::vector<std::uint8_t> with_bits(DType dtype, std::vector<std::uint8_t> bytes, int bits) {
  const std::size_t size = dtype_bytes(dtype);
  for (std::size_t at = 0; at + size <= bytes.size(); at += size)
    store_float(dtype, round_to_bits(load_float(dtype, bytes.data() + at), bits), bytes.data() + at);
  return bytes;
}

std::optional<CallPlan> with_rounded_inputs(const FunctionInfo& info, const CallPlan& plan) {
  std::optional<CallPlan> rounded;
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    const ParameterInfo& parameter = info.parameters[p];
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::out || !is_float(parameter.dtype))
      continue;
    if (!rounded) rounded = plan;
    set_contents(*rounded, p, with_bits(parameter.dtype, plan.host_copy(p), bits_below(parameter.dtype)));
  }
  return rounded;
}

bool are_judged_as_a_whole(const CheckLimits& limits) { return !limits.rtol && !limits.atol; }

std::optional<ControlOutputs> run_controls(const Device& device, const KernelSource& definition, const Target& target,
                                           const RanKernel& ran, const CallOptions& call, const CheckLimits& limits,
                                           const Observer& observer) {
  if (!are_judged_as_a_whole(limits) || limits.other_algorithm || !has_definition(definition)) return std::nullopt;
  const CompiledModule module = compile_kernel(definition, "", target, call, observer).module;
  const FunctionInfo& info = choose_function(module.manifest(), "", definition.name);
  const CallPlan plan = plan_same_call(info, ran.info, ran.plan, pair_with_reference(ran.info, info));
  const std::optional<CallPlan> rounded = with_rounded_inputs(info, plan);
  if (!rounded) return std::nullopt;
  try {
    return ControlOutputs{outputs_of_call(device, module, info, plan, observer),
                          outputs_of_call(device, module, info, *rounded, observer)};
  } catch (const Error& error) {
    if (!is_failure_of_kernel(error)) throw;
    return std::nullopt;
  }
}

std::string text_of(const ControlledErrors& errors) {
  return "a root-mean-square error of " + number_text(errors.kernel) + " of the values; ferry's own kernel has " +
         number_text(errors.own) + ", and " + number_text(errors.rounded) + " with inputs of " +
         std::to_string(errors.bits) + " bits";
}

void ControlledSum::add(double expected, double kernel, double own, double rounded) {
  if (!std::isfinite(expected) || !std::isfinite(kernel) || !std::isfinite(own) || !std::isfinite(rounded)) return;
  const auto square = [](double x) { return x * x; };
  ++elements_;
  values_ += square(expected);
  kernel_ += square(kernel - expected);
  own_ += square(own - expected);
  rounded_ += square(rounded - expected);
}

std::optional<ControlledErrors> ControlledSum::errors(DType dtype) const {
  if (elements_ < kFewElements || values_ == 0 || !std::isfinite(values_)) return std::nullopt;
  const auto relative = [&](double squares) { return std::sqrt(squares / values_); };
  ControlledErrors errors{relative(kernel_), relative(own_), relative(rounded_), 0, bits_below(dtype)};
  const double own = std::max(errors.own, lang::unit_roundoff(dtype));
  errors.allowed = std::max(std::sqrt(own * errors.rounded), kCarelessOrder * own);
  return errors;
}

}  // namespace ferry::verify
