#include "host/measure/side_outputs.h"

#include "host/kernel/compile_kernel.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/retry.h"
#include "host/measure/code_layout.h"
#include "host/verify/comparison_warnings.h"

namespace ferry::bench {

verify::Outputs outputs_of_side(const OpenSession& open, const RunSettings& settings, const MeasuredSide& side,
                                bool guard_tensors, const Observer& observer, std::vector<std::string>* warnings) {
  const CompiledModule module = module_in_layout(settings.compiler, side.module, kFirstLayout);
  return with_retries(observer, [&] {
    ConnectOptions connection;
    connection.devices = settings.devices;
    connection.guard_tensors = guard_tensors;
    connection.source_line = source_line_of(settings.compiler);
    const Device device = open(connection);
    verify::Outputs outputs = verify::outputs_of_call(device, module, side.info, side.plan, observer);
    finish_kernels(device);
    if (warnings != nullptr)
      *warnings = verify::comparison_warnings(device, module, side.info, side.plan, outputs, observer);
    return outputs;
  });
}

}  // namespace ferry::bench
