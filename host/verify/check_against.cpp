#include "host/verify/check_against.h"

#include "host/kernel/option_error.h"
#include "host/verify/same_call.h"

namespace ferry::verify {

CheckedPair read_checked_pair(const KernelOptions& kernel, const std::string& against, const Observer& observer) {
  if (against.empty()) return {read_kernel(kernel, observer), std::nullopt};
  KernelOptions other;
  other.file = against;
  if (foreign::is_foreign(against)) {
    KernelSource source = read_kernel(kernel, observer);
    std::string signature = signature_of(source, kernel.function);
    return {std::move(source), read_kernel(other, observer, signature)};
  }
  KernelSource read = read_kernel(other, observer);
  std::string signature = foreign::is_foreign(kernel.file) ? signature_of(read, "") : std::string();
  return {read_kernel(kernel, observer, signature), std::move(read)};
}

ParameterPairs pair_with_reference(const FunctionInfo& info, const FunctionInfo& reference) {
  Result<ParameterPairs> pairs = pair_parameters(info, reference);
  if (!pairs.is_ok()) throw OptionError(Option::reference, pairs.status().message());
  return std::move(pairs.value());
}

std::vector<OutputComparison> compare_on_device(const Device& device, const KernelSource& against, const Target& target,
                                                const RanKernel& ran, const CallOptions& call,
                                                const DifferenceLimits& limits, const Observer& observer) {
  const CompiledModule module = compile_kernel(against, "", target, call, observer).module;
  const FunctionInfo& other = choose_function(module.manifest(), "", against.name);
  const ParameterPairs pairs = pair_with_reference(ran.info, other);
  const CallPlan plan = plan_same_call(other, ran.info, ran.plan, pairs);
  return compare_all_outputs(ran.info, ran.plan, ran.outputs, outputs_of_call(device, module, other, plan, observer),
                             pairs, limits);
}

std::vector<CheckResult> check_against_definition(const KernelSource& against, const RanKernel& ran,
                                                  const CheckLimits& limits) {
  const FunctionInfo other = function_of(against, "");
  const ParameterPairs pairs = pair_with_reference(ran.info, other);
  const CallPlan plan = plan_same_call(other, ran.info, ran.plan, pairs);
  Outputs outputs(other.parameters.size());
  for (const auto& [p, q] : pairs) outputs[q] = ran.outputs[p];
  return check_outputs(program_of(against, other.name), other, plan, outputs, limits);
}

}  // namespace ferry::verify
