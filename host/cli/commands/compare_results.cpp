#include "host/cli/commands/compare_results.h"

#include "host/kernel/kernel_failure.h"
#include "host/verify/kernel_outputs.h"
#include "host/verify/same_call.h"

namespace ferry::cli {

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
  const verify::ParameterPairs pairs = verify::expect_same_parameters(
      infos[0], infos[1], "A and B cannot be given the same inputs, which --allow-difference does without");
  const CallPlan a = plan_call(infos[0], setup.call), b = verify::plan_same_call(infos[1], infos[0], a, pairs);
  const verify::Outputs of_a = verify::outputs_of_call(device, modules[0], infos[0], a, setup.observer);
  const verify::Outputs of_b = verify::outputs_of_call(device, modules[1], infos[1], b, setup.observer);
  finish_kernels(device);
  return verify::compare_all_outputs(infos[0], a, of_a, of_b, pairs, limits);
}

}  // namespace ferry::cli
