#include "host/verify/kernel_outputs.h"

#include "host/kernel/kernel_failure.h"

namespace ferry::verify {

Outputs outputs_of_call(const Device& device, const CompiledModule& module, const FunctionInfo& info,
                        const CallPlan& plan, const Observer& observer, CallPlace place) {
  const Function function = device.load(module)[info.name];
  const std::vector<Argument> arguments = function.on_device(make_arguments(info, plan, device, observer));
  const StepGuard step = observer.begin("running " + info.name);
  run_kernel(device, {info.name}, [&] {
    constexpr BenchOptions kOneCall{.number = 1, .repeat = 1, .min_repeat_ms = 0, .warmup_ms = 0, .isolated = true};
    if (place == CallPlace::session)
      function.call(arguments);
    else
      function.measure(arguments, kOneCall);
  });
  Outputs outputs(info.parameters.size());
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    if (info.parameters[p].direction == Direction::in) continue;
    const auto& tensor = std::get<DeviceTensor>(arguments[p].value());
    outputs[p].resize(tensor.bytes());
    tensor.read(outputs[p].data());
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
