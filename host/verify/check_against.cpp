#include "host/verify/check_against.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/overloaded.h"
#include "ferry/kernel/option_error.h"
#include "host/verify/called_definition.h"
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

std::vector<OutputComparison> compare_with_reference(const Device& device, const KernelSource& against,
                                                     const Target& target, const RanKernel& ran,
                                                     const CallOptions& call, const DifferenceLimits& limits,
                                                     const Observer& observer) {
  if (has_definition(against)) return {};
  return compare_on_device(device, against, target, ran, call, limits, observer);
}

std::vector<CheckResult> check_definitions(const std::vector<Definition>& definitions, const RanKernel& ran,
                                           const ControlOutputs* controls, const CheckLimits& limits,
                                           const Observer& observer) {
  const StepGuard step = observer.begin("checking");
  std::vector<CheckResult> checks;
  for (const Definition& definition : definitions) {
    const CallPlan plan = plan_of(definition, ran.info, ran.plan);
    const CalledDefinition called(definition, plan, bound_of(definition.info, plan));
    const bool is_reference = !definition.pairs.empty();
    std::vector<CheckResult> more = check_outputs(called, definition.info, in_order_of(definition, ran.outputs), limits,
                                                  {}, is_reference ? controls : nullptr);
    std::ranges::move(more, std::back_inserter(checks));
  }
  return checks;
}

}  // namespace ferry::verify
