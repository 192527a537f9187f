#include "host/verify/kernel_outputs.h"

#include "host/kernel/kernel_failure.h"

namespace ferry::verify {

Outputs outputs_of_call(const Device& device, const CompiledModule& module, const FunctionInfo& info,
                        const CallPlan& plan, const Observer& observer) {
  const Function function = device.load(module)[info.name];
  const std::vector<Argument> arguments = make_arguments(info, plan, device, observer);
  const StepGuard step = observer.begin("running " + info.name);
  const std::vector<DeviceTensor> tensors = run_kernel(device, {info.name}, [&] { return function.call(arguments); });
  Outputs outputs(info.parameters.size());
  auto tensor = tensors.begin();
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    if (info.parameters[p].direction == Direction::in) continue;
    outputs[p].resize(tensor->bytes());
    (tensor++)->read(outputs[p].data());
  }
  return outputs;
}

std::vector<OutputComparison> compare_all_outputs(const FunctionInfo& a, const CallPlan& plan, const Outputs& of_a,
                                                  const Outputs& of_b, const ParameterPairs& pairs,
                                                  const DifferenceLimits& limits) {
  std::vector<OutputComparison> compared;
  for (const auto& [p, q] : pairs) {
    if (a.parameters[p].direction == Direction::in) continue;
    compared.push_back(compare_outputs(a.parameters[p].name, plan.dtypes[p], plan.shapes[p], of_a[p], of_b[q], limits));
  }
  return compared;
}

}  // namespace ferry::verify
