#include "host/kernel/step_times.h"

#include "module/device_id.h"
#include "module/step_description.h"

namespace ferry {

namespace {

// Returns the symbols and then the plan's values; they end before one that cannot be computed.
std::vector<std::int64_t> values_of(const Plan& plan, std::span<const std::int64_t> symbols) {
  std::vector<std::int64_t> values(symbols.begin(), symbols.end());
  for (const ManifestExpr& expr : plan.values) {
    const Result<std::int64_t> value = evaluate(expr, values);
    if (!value.is_ok()) break;
    values.push_back(value.value());
  }
  return values;
}

}  // namespace

void describe_step_times(const CompiledModule& module, std::span<const std::int64_t> symbols,
                         std::vector<StepTime>& steps) {
  const std::vector<std::string> devices = device_ids(module.manifest());
  if (devices.size() > 1)
    for (StepTime& step : steps) step.device_name = step.device < devices.size() ? devices[step.device] : "";
  const std::vector<StepDescription>& all = module.steps();
  if (all.empty()) return;
  // Repeats, and what they run not even once, are not among the steps that a device times.
  const Plan& plan = module.manifest().functions.front().plan;
  const std::vector<std::int64_t> values = values_of(plan, symbols);
  std::vector<const StepDescription*> descriptions;
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    const auto* repeat = std::get_if<RepeatStep>(&plan.steps[s]);
    if (repeat == nullptr)
      descriptions.push_back(&all[s]);
    else if (repeat->count >= values.size() || values[repeat->count] < 1)
      s += repeat->steps;
  }
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
