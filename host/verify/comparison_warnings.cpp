#include "host/verify/comparison_warnings.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <iterator>
#include <span>

#include "host/kernel/call_inputs.h"
#include "host/kernel/kernel_failure.h"
#include "host/verify/element_text.h"

namespace ferry::verify {

namespace {

using Clock = std::chrono::steady_clock;

// So long other inputs are tried.
constexpr std::chrono::seconds kMostTime{5};

bool is_random_input(const FunctionInfo& info, const CallPlan& plan, std::size_t parameter) {
  const ParameterInfo& parameter_info = info.parameters[parameter];
  return parameter_info.kind == ParameterKind::tensor && parameter_info.direction != Direction::out &&
         plan.contents[parameter].is_random() && plan.places[parameter] > 0;
}

// Returns whether all elements have the bits of the first.
bool are_same(std::span<const std::uint8_t> bytes, std::size_t size) {
  return std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

std::vector<std::string> unread_inputs(const FunctionInfo& info, const CallPlan& plan, const Outputs& outputs,
                                       const CallAgain& call) {
  const Clock::time_point begin = Clock::now();
  std::vector<std::string> warnings;
  CallPlan changed = plan;
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    if (!is_random_input(info, plan, p)) continue;
    if (Clock::now() - begin > kMostTime) break;
    changed.contents[p] = other_content(info, plan, p);
    if (call(changed) == outputs)
      warnings.push_back("the result did not change when " + info.parameters[p].name +
                         " changed: comparing it shows nothing of how " + info.parameters[p].name + " is used");
    changed.contents[p] = plan.contents[p];
  }
  return warnings;
}

}  // namespace

std::vector<std::string> constant_outputs(const FunctionInfo& info, const CallPlan& plan, const Outputs& outputs) {
  std::vector<std::string> warnings;
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    const std::size_t size = dtype_bytes(plan.dtypes[p]);
    if (outputs[p].size() < 2 * size || !are_same(outputs[p], size)) continue;
    const lang::Element element = lang::load_element(plan.dtypes[p], outputs[p].data());
    const std::string value = value_of(plan.dtypes[p], element) == 0 ? "0" : element_text(plan.dtypes[p], element);
    warnings.push_back("every element of " + info.parameters[p].name + " is " + (value == "0" ? "" : "the same, ") +
                       value + ": comparing them shows little; other inputs may show more");
  }
  return warnings;
}

std::vector<std::string> comparison_warnings(const FunctionInfo& info, const CallPlan& plan, const Outputs& outputs,
                                             const CallAgain& call) {
  std::vector<std::string> warnings = constant_outputs(info, plan, outputs);
  try {
    std::ranges::move(unread_inputs(info, plan, outputs, call), std::back_inserter(warnings));
  } catch (const Error& error) {
    if (!is_failure_of_kernel(error)) throw;
    warnings.push_back(info.name + " fails with other random inputs: " + error.what());
  }
  return warnings;
}

std::vector<std::string> comparison_warnings(const Device& device, const CompiledModule& module,
                                             const FunctionInfo& info, const CallPlan& plan, const Outputs& outputs,
                                             const Observer& observer, CallPlace place) {
  std::vector<std::string> warnings = comparison_warnings(info, plan, outputs, [&](const CallPlan& changed) {
    return outputs_of_call(device, module, info, changed, observer, place);
  });
  try {
    finish_kernels(device);
  } catch (const Error& error) {
    if (!is_failure_of_kernel(error)) throw;
    warnings.push_back(info.name + " fails with other random inputs: " + error.what());
  }
  return warnings;
}

}  // namespace ferry::verify
