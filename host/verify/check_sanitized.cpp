#include "host/verify/check_sanitized.h"

#include <algorithm>

#include "ferry/error.h"
#include "ferry/kernel/kernel_failed.h"
#include "host/client/scalar.h"
#include "host/verify/comparison_warnings.h"
#include "host/verify/same_call.h"

namespace ferry::verify {

namespace {

std::vector<SanitizedArgument> arguments_of(const FunctionInfo& info, const CallPlan& plan) {
  std::vector<SanitizedArgument> arguments(info.parameters.size());
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    if (plan.scalars[p]) {
      arguments[p].scalar_bits = session::scalar_bits(info, p, *plan.scalars[p]);
    } else if (info.parameters[p].direction == Direction::out) {
      arguments[p].bytes.resize(static_cast<std::size_t>(plan.bytes(p)));
    } else {
      arguments[p].bytes = plan.host_copy(p);
    }
  }
  return arguments;
}

SanitizedRun run(const KernelSource& source, const FunctionInfo& info, const CallPlan& plan,
                 const SanitizedOptions& options, const Observer& observer) {
  const bool is_cuda = is_cuda_source(source.name);
  const StepGuard step = observer.begin("running " + info.name + (is_cuda ? " thread by thread" : " under sanitizers"));
  StepGuard compilation = observer.begin_compilation(source.name);
  const std::function<SanitizedRun(double)> call =
      expect_compiler(source.compiler, source.name)
          .sanitize(source.as_foreign()->source, info.name, options.target, arguments_of(info, plan), plan.symbols);
  compilation.reset();
  return call(options.call_deadline);
}

void check_against(CheckReport& check, const CheckedPair& kernels, const RanKernel& ran,
                   const SanitizedOptions& options, const Observer& observer) {
  const KernelSource& against = *kernels.against;
  const CallAgain call = [&](const CallPlan& plan) {
    SanitizedRun again = run(kernels.source, ran.info, plan, options, observer);
    if (!again.mistake.empty()) throw KernelFailed(again.mistake);
    return std::move(again.outputs);
  };
  check.findings.warnings = comparison_warnings(ran.info, ran.plan, ran.outputs, call);
  if (has_definition(against)) {
    const std::vector<Definition> definitions = definitions_of({}, ran.info, against, kernels.source.compiler);
    check.findings.checks = check_definitions(definitions, ran, nullptr, options.probing.limits, observer);
    check.findings.probes = run_probes(ran.info, ran.plan, definitions, options.probing, call, observer);
    return;
  }
  if (!against.as_foreign())
    throw UsageError(against.name + ": expected a kernel's text to check against, got a module");
  const FunctionInfo other = function_of(against, "");
  const ParameterPairs pairs = pair_with_reference(ran.info, other);
  const CallPlan plan = plan_same_call(other, ran.info, ran.plan, pairs);
  const SanitizedRun result = run(against, other, plan, options, observer);
  if (!result.mistake.empty()) throw UsageError(against.name + " cannot be checked against: " + result.mistake);
  check.findings.compared = compare_all_outputs(ran.info, ran.plan, ran.outputs, result.outputs, pairs,
                                                {options.probing.limits.rtol, options.probing.limits.atol});
}

}  // namespace

CheckReport check_sanitized(const CheckedPair& kernels, const std::string& function, const CallOptions& call,
                            const SanitizedOptions& options, const Observer& observer) {
  CheckReport check;
  const FunctionInfo info = function_of(kernels.source, function);
  check.function = info.name;
  check.target = is_cuda_source(kernels.source.name) ? options.target.text : "host";
  const CallPlan plan = plan_call(info, call, input_range(kernels.source, kernels.against));
  SanitizedRun found = run(kernels.source, info, plan, options, observer);
  check.mistake = std::move(found.mistake);
  check.details = std::move(found.report);
  check.not_confined = std::move(found.not_confined);
  if (check.mistake.empty() && kernels.against)
    check_against(check, kernels, {info, plan, std::move(found.outputs)}, options, observer);
  return check;
}

}  // namespace ferry::verify
