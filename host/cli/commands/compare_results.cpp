#include "host/cli/commands/compare_results.h"

#include "base/quantity_text.h"
#include "host/cli/commands/same_call.h"
#include "host/cli/options/exit_code.h"
#include "host/cli/options/target_option.h"
#include "host/cli/output/progress.h"
#include "host/kernel/kernel_failure.h"

namespace ferry::cli {

Outputs outputs_of_call(const Device& device, const CompiledModule& module, const FunctionInfo& info,
                        const CallPlan& plan, const Observer& observer) {
  const Function function = device.load(module)[info.name];
  const std::vector<Argument> arguments = make_arguments(info, plan, device, observer);
  const Scope step = observer.begin("running " + info.name);
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

std::vector<verify::OutputComparison> compare_all_outputs(const FunctionInfo& a, const CallPlan& plan,
                                                          const Outputs& of_a, const Outputs& of_b,
                                                          const verify::ParameterPairs& pairs,
                                                          const verify::DifferenceLimits& limits) {
  std::vector<verify::OutputComparison> compared;
  for (const auto& [p, q] : pairs) {
    if (a.parameters[p].direction == Direction::in) continue;
    compared.push_back(
        verify::compare_outputs(a.parameters[p].name, plan.dtypes[p], plan.shapes[p], of_a[p], of_b[q], limits));
  }
  return compared;
}

std::vector<verify::OutputComparison> compare_results(const CompareSetup& setup,
                                                      const verify::DifferenceLimits& limits) {
  ConnectOptions connection;
  connection.devices = devices_for(setup.target, setup.kernels[0].source);
  connection.guard_tensors = may_leave_tensors(setup.kernels[0].source) || may_leave_tensors(setup.kernels[1].source);
  const Device device = open_device(setup.remote, connection);
  const Target target =
      target_for(device, setup.target, setup.kernels[setup.kernels[0].source.module ? 1 : 0].source, setup.observer);
  std::vector<CompiledModule> modules;
  FunctionInfo infos[2];
  for (const ComparedKernel& kernel : setup.kernels) {
    modules.push_back(compile_kernel(kernel.source, kernel.function, target, setup.call, setup.observer).module);
    infos[modules.size() - 1] = choose_function(modules.back().manifest(), kernel.function, kernel.source.name);
  }
  const verify::ParameterPairs pairs = expect_same_parameters(
      infos[0], infos[1], "A and B cannot be given the same inputs, which --allow-difference does without");
  const CallPlan a = plan_call(infos[0], setup.call), b = plan_same_call(infos[1], infos[0], a, pairs);
  const Outputs of_a = outputs_of_call(device, modules[0], infos[0], a, setup.observer);
  const Outputs of_b = outputs_of_call(device, modules[1], infos[1], b, setup.observer);
  finish_kernels(device);
  return compare_all_outputs(infos[0], a, of_a, of_b, pairs, limits);
}

std::string difference_text(const std::vector<verify::OutputComparison>& outputs) {
  for (const verify::OutputComparison& output : outputs) {
    if (output.different == 0) continue;
    const bool is_only = output.elements == 1;
    return output.first_difference +
           (is_only ? ""
                    : " (" + count_text(output.different) + " of " + count_text(output.elements) + " elements differ)");
  }
  return {};
}

Json comparison_json(const verify::OutputComparison& output) {
  return {{"output", output.output},
          {"elements", output.elements},
          {"different", output.different},
          {"largest_difference", output.largest_difference},
          {"rtol", output.rtol},
          {"atol", output.atol},
          {"first_difference", output.first_difference.empty() ? Json(nullptr) : Json(output.first_difference)}};
}

}  // namespace ferry::cli
