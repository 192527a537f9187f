#include "host/verify/check_given.h"

#include "host/client/npy/npy.h"
#include "host/kernel/call_plan.h"
#include "host/kernel/kernel.h"
#include "host/verify/called_definition.h"
#include "host/verify/check_outputs.h"
#include "module/manifest.h"

namespace ferry::verify {
CheckReport check_given(const Compiler* compiler, const CheckRequest& request, std::span<const std::string> results,
                        bool are_random, const Observer& observer) {
  const KernelSource source = read_kernel(compiler, request.kernel, observer);
  if (!has_definition(source))
    throw UsageError(source.name +
                     " has no definition to compare results with: expected a kernel in ferry's own notation");
  const FunctionInfo info = function_of(source, request.kernel.function);
  const CallPlan plan = plan_call(info, request.call);
  std::vector<std::vector<std::uint8_t>> outputs(info.parameters.size());
  std::size_t taken = 0;
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    const ParameterInfo& parameter = info.parameters[p];
    if (parameter.kind != ParameterKind::tensor || parameter.direction == Direction::in) continue;
    if (taken == results.size()) throw UsageError("expected a result for " + parameter.name + " too, got none");
    npy::Array given = npy::read(results[taken++]);
    const std::string wanted = shape_text(plan.dtypes[p], plan.shapes[p]), got = shape_text(given.dtype, given.shape);
    if (got != wanted) throw UsageError(parameter.name + ": expected " + wanted + ", got " + got);
    outputs[p] = std::move(given.bytes);
  }
  if (taken != results.size()) {
    throw UsageError("expected " + std::to_string(taken) + " results of " + info.name + ", got " +
                     std::to_string(results.size()));
  }
  CheckReport report;
  report.function = info.name;
  const StepGuard step = observer.begin("checking");
  const lang::RoundingBound bound = are_random ? lang::RoundingBound::square_root : bound_of(info, plan);
  const CalledDefinition definition(program_of(source, info.name), info, plan, bound);
  report.findings.checks = check_outputs(definition, info, outputs, request.limits);
  return report;
}

}  // namespace ferry::verify
