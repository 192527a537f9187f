#include "host/measure/compare_results.h"

#include "ferry/kernel/option_error.h"
#include "host/kernel/call_inputs.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/kernel_failure.h"
#include "host/measure/paired_run.h"
#include "host/verify/comparison_warnings.h"
#include "host/verify/kernel_outputs.h"
#include "host/verify/same_call.h"

namespace ferry::bench {

ComparedResults compare_results(const OpenSession& open, const KernelPair& kernels, const CompareOptions& options,
                                const Observer& observer) {
  ConnectOptions connection;
  connection.devices = devices_for(options.target, kernels[0].source);
  connection.source_line = source_line_of(kernels[0].source);
  connection.guard_tensors = may_leave_tensors(kernels[0].source) || may_leave_tensors(kernels[1].source);
  const Device device = open(connection);
  const Target target = common_target(device, kernels, options.target, observer);
  std::vector<CompiledModule> modules;
  std::vector<FunctionInfo> infos;
  for (const ComparedKernel& kernel : kernels) {
    modules.push_back(compile_kernel(kernel.source, kernel.function, target, options.call, observer).module);
    infos.push_back(choose_function(modules.back().manifest(), kernel.function, kernel.source.name));
  }
  const Result<verify::ParameterPairs> pairs = verify::pair_parameters(infos[0], infos[1]);
  if (!pairs.is_ok())
    throw OptionError(Option::same_results, "A and B cannot be given the same inputs: " + pairs.status().message());
  const CallPlan a = plan_call(infos[0], options.call, input_range(kernels[0].source, kernels[1].source));
  const CallPlan b = verify::plan_same_call(infos[1], infos[0], a, pairs.value());
  const verify::Outputs of_a = verify::outputs_of_call(device, modules[0], infos[0], a, observer);
  const verify::Outputs of_b = verify::outputs_of_call(device, modules[1], infos[1], b, observer);
  finish_kernels(device);
  return {verify::compare_all_outputs(infos[0], a, of_a, of_b, pairs.value(), options.limits), input_texts(infos[0], a),
          verify::comparison_warnings(device, modules[0], infos[0], a, of_a, observer)};
}

}  // namespace ferry::bench
