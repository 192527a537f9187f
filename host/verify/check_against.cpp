#include "host/verify/check_against.h"

#include <iterator>
#include <utility>

#include "base/overloaded.h"
#include "ferry/kernel/option_error.h"
#include "host/verify/check_outputs.h"
#include "host/verify/same_call.h"

namespace ferry::verify {

namespace {

// No option chooses among the functions of a reference.
KernelSource with_one_function(KernelSource reference) {
  const std::size_t count =
      std::visit(Overloaded{[](const TextKernel& kernel) { return kernel.programs.size(); },
                            [](const ForeignKernel& kernel) { return kernel.functions.size(); },
                            [](const NetworkKernel&) { return std::size_t{1}; },
                            [](const ModuleKernel& kernel) { return kernel.module.manifest().functions.size(); }},
                 reference.kind);
  if (count > 1)
    throw OptionError(Option::reference,
                      reference.name + ": expected a kernel with one function, got " + std::to_string(count));
  return reference;
}

}  // namespace

CheckedPair read_checked_pair(const Compiler* compiler, const KernelOptions& kernel, const std::string& against,
                              const Observer& observer) {
  if (against.empty()) return {read_kernel(compiler, kernel, observer), std::nullopt};
  KernelOptions other;
  other.file = against;
  if (is_foreign(against)) {
    KernelSource source = read_kernel(compiler, kernel, observer);
    std::string signature = signature_of(source, kernel.function);
    return {std::move(source), with_one_function(read_kernel(compiler, other, observer, signature))};
  }
  KernelSource read = with_one_function(read_kernel(compiler, other, observer));
  std::string signature = is_foreign(kernel.file) ? signature_of(read, "") : std::string();
  return {read_kernel(compiler, kernel, observer, signature), std::move(read)};
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

std::vector<OutputComparison> compare_with_reference(const Device& device, const KernelSource& against,
                                                     const Target& target, const RanKernel& ran,
                                                     const CallOptions& call, const DifferenceLimits& limits,
                                                     const Observer& observer) {
  if (has_definition(against)) return {};
  return compare_on_device(device, against, target, ran, call, limits, observer);
}

std::vector<CheckResult> check_definitions(const std::optional<lang::Program>& own,
                                           const std::optional<KernelSource>& against, const RanKernel& ran,
                                           const CheckLimits& limits, const Observer& observer) {
  const StepGuard step = observer.begin("checking");
  std::vector<CheckResult> checks;
  if (own) checks = check_outputs(*own, ran.info, ran.plan, ran.outputs, limits);
  if (against && has_definition(*against)) {
    std::vector<CheckResult> more = check_against_definition(*against, ran, limits);
    std::move(more.begin(), more.end(), std::back_inserter(checks));
  }
  return checks;
}

}  // namespace ferry::verify
