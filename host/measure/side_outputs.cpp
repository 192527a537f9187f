#include "host/measure/side_outputs.h"

#include "host/kernel/compile_kernel.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/retry.h"
#include "host/measure/code_layout.h"
#include "host/verify/comparison_warnings.h"

namespace ferry::bench {

SideOutputs outputs_of_side(const OpenSession& open, const RunSettings& settings, const MeasuredSide& side,
                            const SideChecks& checks, const Observer& observer) {
  const CompiledModule module = module_in_layout(settings.compiler, side.module, kFirstLayout);
  return with_retries(observer, [&] {
    ConnectOptions connection;
    connection.devices = settings.devices;
    connection.guard_tensors = checks.guards_tensors;
    connection.source_line = source_line_of(settings.compiler);
    const Device device = open(connection);
    SideOutputs found{verify::outputs_of_call(device, module, side.info, side.plan, observer)};
    finish_kernels(device);
    found.probes =
        verify::run_probes(device, module, side.info, side.plan, checks.definitions, checks.probing, observer);
    if (checks.warns && !verify::has_failed(found.probes))
      found.warnings = verify::comparison_warnings(device, module, side.info, side.plan, found.outputs, observer);
    return found;
  });
}

}  // namespace ferry::bench
