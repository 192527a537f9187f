#include "host/measure/side_outputs.h"

#include "host/kernel/compile_kernel.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/retry.h"
#include "host/measure/code_layout.h"
#include "host/verify/comparison_warnings.h"
#include "host/verify/controls.h"

#include <memory>

namespace ferry::bench {

namespace {

// Inputs that are larger are not sent to the device, where others are drawn.
constexpr std::uint64_t kMostRounded = 16 << 20;

verify::Outputs outputs_of_rounded(const Device& device, const CompiledModule& module, const MeasuredSide& side,
                                   const Observer& observer) {
  std::uint64_t bytes = 0;
  for (std::size_t p = 0; p < side.info.parameters.size(); ++p)
    if (!side.plan.scalars[p] && side.info.parameters[p].direction != Direction::out) bytes += side.plan.bytes(p);
  if (bytes > kMostRounded) return {};
  const std::optional<CallPlan> rounded = verify::with_rounded_inputs(side.info, side.plan);
  if (!rounded) return {};
  try {
    return verify::outputs_of_call(device, module, side.info, *rounded, observer, verify::CallPlace::as_measured);
  } catch (const Error& error) {
    if (!is_failure_of_kernel(error)) throw;
    return {};
  }
}

}  // namespace

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
    if (!checks.warns && !checks.rounds_inputs && checks.definitions.empty()) return found;
    if (checks.guards_tensors) {
      device.reset();
      connection.guard_tensors = false;
      device = std::make_unique<Device>(open(connection));
    }
    verify::ProbeOptions probing = checks.probing;
    probing.place = place;
    found.probes = verify::run_probes(*device, module, side.info, side.plan, checks.definitions, probing, observer);
    if (verify::has_failed(found.probes)) return found;
    if (checks.rounds_inputs) found.rounded = outputs_of_rounded(*device, module, side, observer);
    if (checks.warns)
      found.warnings =
          verify::comparison_warnings(*device, module, side.info, side.plan, found.outputs, observer, place);
    return found;
  });
}

}  // namespace ferry::bench
