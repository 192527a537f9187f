#include "host/measure/side_outputs.h"

#include "host/kernel/compile_kernel.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/retry.h"
#include "host/measure/code_layout.h"
#include "host/verify/comparison_warnings.h"

#include <memory>

namespace ferry::bench {

SideOutputs outputs_of_side(const OpenSession& open, const RunSettings& settings, const MeasuredSide& side,
                            const SideChecks& checks, const Observer& observer) {
  const CompiledModule module = module_in_layout(settings.compiler, side.module, kFirstLayout);
  constexpr auto place = verify::CallPlace::as_measured;
  return with_retries(observer, [&] {
    ConnectOptions connection;
    connection.devices = settings.devices;
    connection.guard_tensors = checks.guards_tensors;
    connection.source_line = source_line_of(settings.compiler);
    auto device = std::make_unique<Device>(open(connection));
    // Only the session's own process has guards between tensors.
    SideOutputs found{verify::outputs_of_call(*device, module, side.info, side.plan, observer,
                                              checks.guards_tensors ? verify::CallPlace::session : place)};
    finish_kernels(*device);
    if (!checks.warns && checks.definitions.empty()) return found;
    if (checks.guards_tensors) {
      device.reset();
      connection.guard_tensors = false;
      device = std::make_unique<Device>(open(connection));
    }
    verify::ProbeOptions probing = checks.probing;
    probing.place = place;
    found.probes = verify::run_probes(*device, module, side.info, side.plan, checks.definitions, probing, observer);
    if (checks.warns && !verify::has_failed(found.probes))
      found.warnings =
          verify::comparison_warnings(*device, module, side.info, side.plan, found.outputs, observer, place);
    return found;
  });
}

}  // namespace ferry::bench
