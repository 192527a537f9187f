#include "host/run/run_once.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "base/quantity_text.h"
#include "base/throw_status.h"
#include "ferry/kernel/option_error.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/emulated.h"
#include "host/kernel/file.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/step_times.h"
#include "host/kernel/tensor_file.h"
#include "host/run/wanted_tensors.h"
#include "host/verify/check_expected.h"
#include "host/verify/check_network.h"
#include "host/verify/comparison_warnings.h"
#include "host/verify/controls.h"
#include "host/verify/output_comparison.h"
#include "host/verify/probes.h"
#include "host/verify/tolerances.h"
#include "module/float_element.h"
#include "module/module_file.h"
#include "module/step_description.h"

namespace ferry {

namespace {

using namespace verify;

// A network with more outputs is run in parts: a function has no more than 1,024 parameters (kMaxParameters).
constexpr std::size_t kMostInner = 500;

bool is_checked(const RunRequest& request) { return request.by_definition || request.kernels.against; }

// Reads back what the request needs.
std::vector<RunOutput> collect(const FunctionInfo& function, const std::vector<DeviceTensor>& tensors,
                               const std::vector<CountedOutput>& counted, const RunRequest& request,
                               const WantedTensors& wanted, const Observer& observer) {
  const std::vector<std::string> names = names_of_parameters(request.kernels.source, function);
  // How many elements of these there are is not known before.
  const auto is_counted = [&](std::size_t parameter) {
    return std::ranges::any_of(
        counted, [&](const CountedOutput& one) { return one.output == parameter || one.shape == parameter; });
  };
  std::vector<RunOutput> outputs;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    if (function.parameters[p].direction == Direction::in) continue;
    const DeviceTensor& tensor = tensors[outputs.size()];
    RunOutput output{p, tensor.dtype(), tensor.shape(), tensor.elements(), names[p]};
    output.is_inner = std::ranges::find(wanted.inner, names[p]) != wanted.inner.end();
    const auto found = wanted.tensors.find(names[p]);
    if (found != wanted.tensors.end()) output.file = found->second.file;
    const bool is_needed = is_checked(request) || !request.peer.name.empty() || found != wanted.tensors.end();
    if (is_needed || output.elements <= request.most_elements || is_counted(p)) {
      output.bytes.resize(tensor.bytes());
      const StepGuard step = observer.begin("reading " + bytes_text(output.bytes.size()));
      tensor.read(output.bytes.data());
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// Leaves the elements of outputs that their shapes, other outputs, say are there. The shapes are removed unless they
// are asked for.
void cut_outputs(const std::vector<CountedOutput>& counted, std::vector<RunOutput>& outputs) {
  for (const CountedOutput& one : counted) {
    const auto output = std::ranges::find(outputs, one.output, &RunOutput::parameter),
               shape = std::ranges::find(outputs, one.shape, &RunOutput::parameter);
    Shape sizes(output->shape.size());
    std::memcpy(sizes.data(), shape->bytes.data(), shape->bytes.size());
    output->bytes = value_or_throw(cut_to_shape(output->bytes, dtype_bytes(output->dtype), output->shape, sizes));
    output->shape = std::move(sizes);
    output->elements = output->bytes.size() / dtype_bytes(output->dtype);
  }
  std::erase_if(outputs, [&](const RunOutput& output) {
    return output.file.empty() && std::ranges::find(counted, output.parameter, &CountedOutput::shape) != counted.end();
  });
}

// Everything that needs the session, and what is left to be done without it.
struct Session {
  RunReport report;
  CallPlan plan;
  std::vector<Definition> definitions;
  std::vector<CountedOutput> counted;
  std::optional<verify::ControlOutputs> controls;

  RanKernel ran() const {
    Outputs outputs(report.function.parameters.size());
    for (const RunOutput& output : report.outputs) outputs[output.parameter] = output.bytes;
    return {report.function, plan, std::move(outputs)};
  }
};

Session run_on_device(const OpenSession& open, const RunRequest& request, const WantedTensors& wanted,
                      const Observer& observer) {
  const KernelSource& source = request.kernels.source;
  const std::optional<KernelSource>& against = request.kernels.against;
  ConnectOptions connection;
  connection.wait_for_debugger = request.wait_for_debugger;
  connection.devices = devices_for(request.target, source);
  connection.source_line = source_line_of(source.compiler);
  connection.guard_tensors = may_leave_tensors(source) || (against && may_leave_tensors(*against));
  const Device device = open(connection);
  const Target target = target_for(device, request.target, source, observer);
  const CompiledKernel kernel = compile_kernel(source, request.function, target, request.call, observer);
  Session session;
  RunReport& report = session.report;
  report.device = device.name() + (device.processor() == device.facts().cpu_name ? "" : ", " + device.processor());
  report.is_emulated = is_emulated(device.facts());
  report.target = kernel.module.manifest().target;
  report.compile_ms = kernel.compile_ms;
  report.module_bytes = kernel.module.bytes().size();
  report.function = choose_function(kernel.module.manifest(), request.function, source.name);
  const FunctionInfo& info = report.function;
  session.plan = plan_call(info, request.call, input_range(source, against));
  for (std::size_t p = 0; p < info.parameters.size(); ++p)
    report.has_random_inputs |= info.parameters[p].direction != Direction::out && !session.plan.scalars[p] &&
                                session.plan.contents[p].is_random();
  std::optional<lang::Program> own;
  if (request.by_definition && !source.as_network()) own = program_of(source, info.name);
  {
    const Function function = device.load(kernel.module)[info.name];
    const std::vector<Argument> arguments = make_arguments(info, session.plan, device, observer);
    TimedOutputs timed = run_kernel(device, {info.name}, [&] {
      const StepGuard step = observer.begin("running " + info.name);
      return function.call_timed(arguments);
    });
    if (!kernel.module.steps().empty())
      session.counted = value_or_throw(counted_outputs(value_or_throw(read_module(kernel.module.bytes()))));
    report.outputs = collect(info, timed.outputs, session.counted, request, wanted, observer);
    // The only call of a CPU function takes the time of the whole.
    if (!native_code(info)) report.steps = std::move(timed.steps);
    describe_step_times(kernel.module, session.plan.symbols, report.steps);
    report.seconds = static_cast<double>(function.last_elapsed_ns()) * 1e-9;
  }
  if (against) {
    report.findings.compared = compare_with_reference(device, *against, target, session.ran(), request.call,
                                                      {request.limits.rtol, request.limits.atol}, observer);
    session.controls = run_controls(device, *against, target, session.ran(), request.call, request.limits, observer);
  }
  if (request.by_definition && source.as_network())
    check_network(device, source, target, request.call, session.ran(),
                  {request.limits, request.call.seed, request.thorough}, report.findings, observer);
  finish_kernels(device);
  session.definitions = definitions_of(own, info, against, source.compiler);
  if (!is_checked(request) || source.as_network()) return session;
  report.findings.probes = run_probes(device, kernel.module, info, session.plan, session.definitions,
                                      {request.limits, request.call.seed, request.thorough}, observer);
  if (!has_failed(report.findings.probes))
    report.findings.warnings =
        comparison_warnings(device, kernel.module, info, session.plan, session.ran().outputs, observer);
  return session;
}

// Returns the limits for a result of the peer. ONNX Runtime's Sigmoid is off by up to 1.3e-7, also where the result is
// less than that, so numbers from 0 to 1 may differ by this.
CheckLimits limits_for_peer(const TensorFile& expected, const CheckLimits& limits) {
  constexpr double kLeast = 0x1p-22;
  const std::size_t size = dtype_bytes(expected.dtype);
  if (limits.rtol || limits.atol || expected.dtype != DType::f32) return limits;
  for (std::size_t at = 0; at < expected.bytes.size(); at += size) {
    const double value = load_float(expected.dtype, expected.bytes.data() + at);
    if (!(value >= 0 && value <= 1)) return limits;
  }
  const double rtol = verify::default_tolerances(expected.dtype).kernels_rtol;
  CheckLimits wider = limits;
  wider.rtol = rtol;
  wider.atol = std::max(kLeast, rtol * verify::typical_magnitude(expected.dtype, expected.bytes));
  return wider;
}

// Compares what a call computed with files, and with what a peer computes.
void compare_with_expected(const RunRequest& request, const WantedTensors& wanted, Session& session,
                           const Observer& observer) {
  RunReport& report = session.report;
  const auto compare = [&](const RunOutput& output, const TensorFile& expected, const CheckLimits& limits,
                           const std::string& against) {
    report.findings.checks.push_back(
        check_expected({output.name, output.dtype, output.shape, output.bytes}, expected, limits, against));
  };
  for (const RunOutput& output : report.outputs) {
    const auto found = wanted.tensors.find(output.name);
    if (found != wanted.tensors.end() && !found->second.expected.empty())
      compare(output, read_tensor(found->second.expected), request.limits, found->second.expected);
  }
  if (request.peer.name.empty()) return;
  const std::vector<std::string> names = names_of_parameters(request.kernels.source, report.function);
  std::vector<NamedTensor> inputs;
  std::vector<std::string> outputs;
  for (std::size_t p = 0; p < names.size(); ++p)
    if (report.function.parameters[p].direction == Direction::in)
      inputs.push_back({names[p], {session.plan.dtypes[p], session.plan.shapes[p], session.plan.host_copy(p)}});
  const auto is_shape = [&](const RunOutput& output) {
    return std::ranges::find(session.counted, output.parameter, &CountedOutput::shape) != session.counted.end();
  };
  for (const RunOutput& output : report.outputs)
    if (!is_shape(output)) outputs.push_back(output.name);
  const StepGuard step = observer.begin("running " + request.peer.name);
  const std::vector<NamedTensor> results =
      request.peer.results(request.peer, *request.kernels.source.as_network()->network, inputs, outputs);
  for (const RunOutput& output : report.outputs) {
    const auto result = std::ranges::find(results, output.name, &NamedTensor::name);
    if (result != results.end())
      compare(output, result->tensor, limits_for_peer(result->tensor, request.limits), request.peer.name);
    else if (!is_shape(output))
      observer.tell("'" + output.name + "' of " + request.peer.name + " is no tensor of numbers, and is not compared");
  }
}

void write_inputs(const RunRequest& request, const WantedTensors& wanted, const Session& session) {
  const std::vector<std::string> names = names_of_parameters(request.kernels.source, session.report.function);
  for (std::size_t p = 0; p < names.size(); ++p) {
    const auto file = wanted.inputs.find(names[p]);
    if (file == wanted.inputs.end() || session.plan.scalars[p] || !session.plan.strides[p].empty()) continue;
    write_tensor(file->second, session.plan.dtypes[p], session.plan.shapes[p], session.plan.host_copy(p));
  }
}

RunReport run_part(const OpenSession& open, const RunRequest& request, const WantedTensors& wanted,
                   const Observer& observer) {
  Session session = with_retries(observer, [&] { return run_on_device(open, request, wanted, observer); });
  if (!session.definitions.empty()) {
    std::vector<CheckResult> checks = check_definitions(
        session.definitions, session.ran(), session.controls ? &*session.controls : nullptr, request.limits, observer);
    std::ranges::move(checks, std::back_inserter(session.report.findings.checks));
  }
  cut_outputs(session.counted, session.report.outputs);
  for (const RunOutput& output : session.report.outputs)
    if (!output.file.empty()) write_tensor(output.file, output.dtype, output.shape, output.bytes);
  write_inputs(request, wanted, session);
  compare_with_expected(request, wanted, session, observer);
  return std::move(session.report);
}

// Returns the request for the network with these tensors as outputs.
RunRequest with_outputs(const RunRequest& request, const std::vector<std::string>& tensors) {
  RunRequest changed = request;
  changed.kernels.source.kind = NetworkKernel{request.kernels.source.as_network()->network->with_outputs(tensors)};
  return changed;
}

}  // namespace

RunReport run_once(const OpenSession& open, const RunRequest& request, const Observer& observer) {
  for (const auto& [name, file] : request.files) expect_writable(file);
  if (!request.peer.name.empty() && !request.kernels.source.as_network())
    throw UsageError(request.kernels.source.name + ": expected a network, which " + request.peer.name + " can compute");
  const WantedTensors wanted = wanted_tensors(request);
  if (wanted.inner.empty()) return run_part(open, request, wanted, observer);
  std::optional<RunReport> all;
  for (std::size_t first = 0; first < wanted.inner.size(); first += kMostInner) {
    const auto begin = wanted.inner.begin() + static_cast<std::ptrdiff_t>(first);
    RunRequest part = with_outputs(
        request, {begin, begin + static_cast<std::ptrdiff_t>(std::min(kMostInner, wanted.inner.size() - first))});
    if (!all) {
      all = run_part(open, part, wanted, observer);
      continue;
    }
    part.by_definition = false;
    part.kernels.against = {};
    RunReport more = run_part(open, part, wanted, observer);
    std::ranges::copy_if(more.outputs, std::back_inserter(all->outputs), &RunOutput::is_inner);
    for (CheckResult& check : more.findings.checks)
      if (std::ranges::find(wanted.inner, check.output) != wanted.inner.end())
        all->findings.checks.push_back(std::move(check));
  }
  return *std::move(all);
}

}  // namespace ferry
