#include "host/verify/check.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "ferry/kernel/option_error.h"
#include "host/kernel/kernel_failure.h"
#include "host/verify/check_against.h"
#include "host/verify/check_interpreted.h"
#include "host/verify/check_network.h"
#include "host/verify/check_sanitized.h"
#include "host/verify/comparison_warnings.h"
#include "host/verify/controls.h"
#include "host/verify/kernel_outputs.h"
#include "host/verify/probes.h"

namespace ferry::verify {

namespace {

ProbeOptions probing(const CheckRequest& request) { return {request.limits, request.call.seed, request.thorough}; }

CheckReport check_foreign(const Compiler& compiler, const CheckRequest& request, const Observer& observer) {
  const bool is_cuda = is_cuda_source(request.kernel.file);
  if (!is_cuda && !request.target.empty() && request.target != "host")
    throw OptionError(Option::target, request.target + ": expected none, because " + request.kernel.file +
                                          " is run under sanitizers on this machine");
  const std::string text = !is_cuda ? "host" : request.target.empty() ? "cuda" : request.target;
  return check_sanitized(
      read_checked_pair(&compiler, request.kernel, request.reference, observer), request.kernel.function, request.call,
      {probing(request), request.call_deadline, resolve_with_notes(compiler, text, observer)}, observer);
}

void run_on(const Device& device, const CheckRequest& request, const CheckedPair& kernels, const Observer& observer,
            CheckReport& report) {
  const KernelSource& source = kernels.source;
  const Target target = target_for(device, request.target, source, observer);
  const CompiledModule module = compile_kernel(source, request.kernel.function, target, request.call, observer).module;
  const FunctionInfo& info = choose_function(module.manifest(), request.kernel.function, source.name);
  report.function = info.name;
  report.target = module.manifest().target;
  const CallPlan plan = plan_call(info, request.call, input_range(source, kernels.against));
  const RanKernel ran{info, plan, outputs_of_call(device, module, info, plan, observer)};
  if (kernels.against)
    report.findings.compared = compare_with_reference(device, *kernels.against, target, ran, request.call,
                                                      {request.limits.rtol, request.limits.atol}, observer);
  std::optional<ControlOutputs> controls;
  if (kernels.against)
    controls = run_controls(device, *kernels.against, target, ran, request.call, request.limits, observer);
  if (source.as_network())
    check_network(device, source, target, request.call, ran, probing(request), report.findings, observer);
  finish_kernels(device);
  std::optional<lang::Program> own;
  if (has_definition(source)) own = program_of(source, info.name);
  const std::vector<Definition> definitions = definitions_of(own, info, kernels.against, source.compiler);
  if (!source.as_network()) {
    report.findings.probes = run_probes(device, module, info, plan, definitions, probing(request), observer);
    if (!has_failed(report.findings.probes))
      report.findings.warnings = comparison_warnings(device, module, info, plan, ran.outputs, observer);
  }
  std::vector<CheckResult> checks =
      check_definitions(definitions, ran, controls ? &*controls : nullptr, request.limits, observer);
  std::ranges::move(checks, std::back_inserter(report.findings.checks));
}

}  // namespace

CheckReport check(const Compiler& compiler, const CheckRequest& request, const Observer& observer) {
  if (is_foreign(request.kernel.file)) return check_foreign(compiler, request, observer);
  const KernelSource source = read_kernel(&compiler, request.kernel, observer);
  if (source.as_module())
    throw UsageError(source.name + " is compiled already: expected a kernel in ferry's own notation, or in C or C++");
  if (source.as_network())
    throw UsageError(source.name +
                     " is a network, whose nodes are checked as a device computes them: expected a device");
  if (!request.reference.empty())
    throw OptionError(Option::reference,
                      source.name + " is checked against its own definition: expected no other kernel");
  return check_interpreted(source, request.kernel.function, request.target, request.call, probing(request), observer);
}

CheckReport check(const Compiler* compiler, const Device& device, const CheckRequest& request,
                  const Observer& observer) {
  const CheckedPair kernels = read_checked_pair(compiler, request.kernel, request.reference, observer);
  if (!kernels.against && !kernels.source.as_network() && !has_definition(kernels.source))
    throw OptionError(Option::reference, kernels.source.name +
                                             " has no definition to check it against: expected a "
                                             "kernel that computes the same");
  CheckReport report;
  try {
    run_on(device, request, kernels, observer, report);
  } catch (const KernelFailed& error) {
    report.mistake = error.what();
    report.findings = {};
  }
  return report;
}

}  // namespace ferry::verify
