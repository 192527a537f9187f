#include "host/kernel/step_times.h"

#include "module/device_id.h"
#include "module/step_description.h"

namespace ferry {

void describe_step_times(const CompiledModule& module, std::span<const std::int64_t> symbols,
                         std::vector<StepTime>& steps) {
  const std::vector<std::string> devices = device_ids(module.manifest());
  if (devices.size() > 1)
    for (StepTime& step : steps) step.device_name = step.device < devices.size() ? devices[step.device] : "";
  const std::vector<StepDescription>& all = module.steps();
  if (all.empty()) return;
  // Repeats are not among the steps that a device times.
  const std::vector<Step>& plan = module.manifest().functions.front().plan.steps;
  std::vector<const StepDescription*> descriptions;
  for (std::size_t s = 0; s < plan.size(); ++s)
    if (!std::holds_alternative<RepeatStep>(plan[s])) descriptions.push_back(&all[s]);
  if (steps.size() != descriptions.size()) return;
  const auto number = [&](const ManifestExpr& expr) {
    const Result<std::int64_t> value = evaluate(expr, symbols);
    return value.is_ok() ? value.value() : 0;
  };
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const StepDescription& described = *descriptions[s];
    StepTime& step = steps[s];
    step.node = described.node;
    step.dtype = described.dtype;
    for (const ManifestExpr& size : described.shape) step.shape.push_back(number(size));
    step.flops = static_cast<double>(number(described.flops));
    step.bytes = static_cast<double>(number(described.bytes));
  }
}

}  // namespace ferry
