#include "host/measure/measure.h"

#include <algorithm>
#include <iterator>
#include <memory>

#include "ferry/error.h"
#include "host/client/bind.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/emulated.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/retry.h"
#include "host/kernel/step_times.h"
#include "host/lang/whole_reads.h"
#include "host/measure/checks_between.h"
#include "host/measure/instructions.h"
#include "host/measure/measured_function.h"
#include "host/measure/memory_floor.h"
#include "host/measure/peak.h"
#include "host/measure/roofline.h"
#include "host/measure/sampling.h"
#include "host/measure/timed_results.h"
#include "host/measure/warnings.h"
#include "host/measure/witness.h"
#include "host/verify/check_against.h"
#include "host/verify/check_network.h"
#include "host/verify/comparison_warnings.h"
#include "host/verify/controls.h"
#include "host/verify/probes.h"

namespace ferry::bench {

namespace {

// Limits of timing the steps of a call one by one.
constexpr double kStepSeconds = 0.2, kMostStepCalls = 50;
// Witnesses, and checks between timed calls, each take such a share of the work of a check, and of each output at least
// so many elements are evaluated.
constexpr double kShareOfWork = 4;
constexpr std::uint64_t kLeastSample = 100;

// Returns the parameters that the function's init plan reads.
std::vector<std::string> constants_of(const FunctionInfo& function) {
  std::vector<std::string> names;
  for (const ParameterInfo& parameter : function.parameters)
    if (parameter.is_constant && needs_instance(function)) names.push_back(parameter.name);
  return names;
}

// Returns everything that is known before the kernel runs.
Measurement untimed(const Device& device, const FunctionInfo& info, const std::vector<std::int64_t>& symbols,
                    const std::string& module_target) {
  return {measured_function(info, symbols), device.name(), device.processor(), device.facts(), module_target};
}

// Replaces the instructions of a timing, which have a share of what surrounds the calls of a sample, by those of a call
// alone. Where there is no such count, the timing stays as it is.
void count_exactly(const Device& device, const Function& function, const std::vector<Argument>& arguments,
                   const BenchOptions& bench, Timing& timing) {
  const InstructionCount count = count_instructions(device, function, arguments, {.cores = bench.cores});
  if (count.per_call) timing.instructions = *count.per_call;
}

// A call that was checked, and by which definitions.
struct CheckedCall {
  const CallPlan& plan;
  verify::Outputs outputs = {};
  std::vector<verify::Definition> definitions = {};
};

// `compiler` and `target` are those of the kernels that measure the device's peaks. `checked` is null if nothing was.
Measurement measure_function(const Device& device, const Function& function, const std::vector<Argument>& given,
                             const Compiler* compiler, const Target& target, const std::string& module_target,
                             const CheckedCall* checked, const MeasureOptions& options, const Observer& observer) {
  const FunctionInfo& info = function.info();
  const std::vector<Argument> arguments = function.on_device(given);
  const session::CallSizes sizes = session::sizes_of_call(info, arguments);
  const std::uint64_t traffic = traffic_bytes(info, sizes.shapes);
  Measurement found = untimed(device, info, sizes.symbols, module_target);
  found.cold = options.sampling.bench.cold;
  found.constants = constants_of(info);
  const Result<std::int64_t> flops = evaluate(info.flops, sizes.symbols);
  found.flops = flops.is_ok() ? static_cast<double>(flops.value()) : 0;
  found.bytes = static_cast<double>(traffic);
  if (!is_emulated(device.facts())) found.moved_bytes = moved_bytes(info, sizes.shapes, device.facts());
  BenchOptions bench = options_for(options.sampling, device);
  std::function<Peak()> peak;
  const auto type = arithmetic_type(info);
  if (type && options.peak && target.is_for_cpu() && compiler != nullptr) {
    const StepGuard step = observer.begin("measuring what the device can do at best");
    found.peak_dtype = *type;
    peak = peak_meter(device, *compiler, target, *type, traffic, bench);
    found.peak = peak();
  }
  {
    const StepGuard step = observer.begin("measuring " + info.name);
    const TimedResultsCheck check(info, arguments);
    found.secret = secret_for(options.sampling);
    look_at_outputs(info, found.secret, bench);
    TimedCall call{function, arguments};
    std::optional<Witnesses> witnesses;
    ChecksBetween between;
    if (checked != nullptr && !checked->definitions.empty() && bench.isolated && bench.fresh_inputs) {
      witnesses.emplace(device, info, checked->plan, arguments, kBenchWitnesses);
      const std::uint64_t most_bytes = std::min(device.facts().memory_limit_bytes / kMemoryShare, kMostMoved);
      between = ChecksBetween(
          device, function, arguments,
          calls_between(info, checked->plan, checked->definitions, options.limits, options.thorough, found.secret,
                        most_bytes),
          other_sizes_between(info, checked->plan, checked->definitions, options.thorough, found.secret, most_bytes));
      call.witnesses = witnesses->arguments();
      call.checks = between.arguments();
      call.other_sizes = between.other_sizes();
    }
    found.timing = std::move(run_kernel(device, {info.name}, [&] { return measure_in_turns({call}, bench); }).front());
    TimedResults results = check.finish(found.timing, checked != nullptr ? &checked->outputs : nullptr);
    if (results.mistake.empty() && witnesses)
      results.mistake = witnesses->mistake(found.timing, checked->definitions, options.limits,
                                           verify::CheckEffort::share(kShareOfWork, kLeastSample), found.timed_checks);
    if (results.mistake.empty() && witnesses)
      results.mistake = between.mistake(info, found.timing, checked->definitions, options.limits,
                                        verify::CheckEffort::share(kShareOfWork, kLeastSample), found.timed_checks);
    if (!results.mistake.empty()) {
      Measurement wrong = untimed(device, info, sizes.symbols, module_target);
      wrong.findings.timed = "timed calls: " + results.mistake;
      wrong.secret = found.secret;
      throw WrongResult(std::move(wrong));
    }
    if (!results.unchecked.empty()) found.findings.warnings.push_back(results.unchecked);
    found.method = method_of(info, found.timing, found.cold, 0);
    bench.poison = {};
    if (device.facts().counts_instructions) count_exactly(device, function, arguments, bench, found.timing);
  }
  if (peak) {
    const StepGuard step = observer.begin("measuring what the device can do at best");
    found.peak = better(found.peak, peak());
  }
  // The only call of a CPU function takes the time that has been measured.
  if (!native_code(info)) {
    const double most = kStepSeconds / std::max(found.timing.median(), 1e-6);
    const auto repeat = static_cast<std::uint32_t>(std::clamp(most, 1.0, kMostStepCalls));
    found.steps = function.call_timed(arguments, {repeat, found.cold, bench.cores, bench.threads}).steps;
  }
  return found;
}

// Runs the kernel once, and says what is wrong with what it computes.
verify::Findings check_results(const Device& device, const MeasuredKernel& kernel, const CompiledModule& module,
                               const FunctionInfo& info, const CallPlan& plan, const Target& target,
                               const MeasureOptions& options, const Observer& observer, CheckedCall& checked) {
  constexpr auto place = verify::CallPlace::as_measured;
  std::optional<lang::Program> definition;
  if (options.check_definition && !kernel.source.as_network()) definition = program_of(kernel.source, info.name);
  verify::RanKernel ran{info, plan, verify::outputs_of_call(device, module, info, plan, observer, place)};
  verify::Findings findings;
  if (kernel.reference)
    findings.compared = verify::compare_with_reference(device, *kernel.reference, target, ran, kernel.call,
                                                       {options.limits.rtol, options.limits.atol}, observer);
  std::optional<verify::ControlOutputs> controls;
  if (kernel.reference)
    controls = verify::run_controls(device, *kernel.reference, target, ran, kernel.call, options.limits, observer);
  const std::vector<verify::Definition> definitions =
      verify::definitions_of(definition, info, kernel.reference, kernel.source.compiler);
  findings.checks =
      verify::check_definitions(definitions, ran, controls ? &*controls : nullptr, options.limits, observer);
  if (!kernel.source.as_network())
    findings.probes = verify::run_probes(device, module, info, plan, definitions,
                                         {options.limits, kernel.call.seed, options.thorough, place}, observer);
  if (!kernel.source.as_network() && !verify::has_failed(findings.probes))
    findings.warnings = verify::comparison_warnings(device, module, info, plan, ran.outputs, observer, place);
  if (options.check_definition && kernel.source.as_network())
    verify::check_network(device, kernel.source, target, kernel.call, ran,
                          {options.limits, kernel.call.seed, options.thorough}, findings, observer);
  checked.outputs = std::move(ran.outputs);
  checked.definitions = definitions;
  return findings;
}

// A kernel that may be measured: it was compiled, and checked where that was asked for.
struct ReadyKernel {
  Target target;
  CompiledKernel compiled;
  const FunctionInfo* info = nullptr;  // the module's
  CallPlan plan = {};
  std::map<std::string, std::string> knobs = {};
  verify::Findings findings = {};
  std::optional<CheckedCall> checked = {};
};

// Throws WrongResult for a kernel that computes something else than it should.
std::unique_ptr<ReadyKernel> prepare(const Device& device, const MeasuredKernel& kernel, const MeasureOptions& options,
                                     const Observer& observer) {
  const Target target = target_for(device, kernel.target, kernel.source, observer);
  auto made = std::make_unique<ReadyKernel>(
      ReadyKernel{target, compile_kernel(kernel.source, kernel.function, target, kernel.call, observer)});
  ReadyKernel& ready = *made;
  const Manifest& manifest = ready.compiled.module.manifest();
  ready.info = &choose_function(manifest, kernel.function, kernel.source.name);
  ready.plan = plan_call(*ready.info, kernel.call, input_range(kernel.source, kernel.reference));
  const TextKernel* text = kernel.source.as_text();
  if (text != nullptr && text->schedule) ready.knobs = text->schedule->knobs;
  if (text != nullptr && text->point) ready.knobs["point"] = point_line(*text->point);
  if (!ready.compiled.tuned.empty()) ready.knobs["point"] = point_line({ready.compiled.tuned.front().schedule.point});
  if (!options.check_definition && !kernel.reference) return made;
  ready.findings = check_results(device, kernel, ready.compiled.module, *ready.info, ready.plan, target, options,
                                 observer, ready.checked.emplace(ready.plan));
  if (ready.findings.is_fine()) return made;
  Measurement wrong = untimed(device, *ready.info, ready.plan.symbols, manifest.target);
  wrong.knobs = ready.knobs;
  wrong.findings = std::move(ready.findings);
  throw WrongResult(std::move(wrong));
}

Measurement measure_ready(const Device& device, const MeasuredKernel& kernel, ReadyKernel& ready,
                          const MeasureOptions& options, const Observer& observer) {
  const FunctionInfo& info = *ready.info;
  const CompiledModule& module = ready.compiled.module;
  Measurement found =
      measure_function(device, device.load(module)[info.name], make_arguments(info, ready.plan, device, observer),
                       kernel.source.compiler, ready.target, module.manifest().target,
                       ready.checked ? &*ready.checked : nullptr, options, observer);
  describe_step_times(module, ready.plan.symbols, found.steps);
  std::ranges::move(found.findings.warnings, std::back_inserter(ready.findings.warnings));
  found.findings = std::move(ready.findings);
  if (has_definition(kernel.source) && !is_emulated(device.facts()))
    found.moved_bytes =
        moved_bytes(info, ready.plan.shapes, device.facts(), lang::whole_reads(program_of(kernel.source, info.name)));
  found.knobs = ready.knobs;
  found.method.seed = kernel.call.seed;
  return found;
}

// Sessions on a device, one after the other.
class Sessions {
 public:
  Sessions(const OpenSession& open, const MeasuredKernel& kernel) : open_(open) {
    connection_.devices = devices_for(kernel.target, kernel.source);
    connection_.source_line = source_line_of(kernel.source.compiler);
  }

  const Device& device() {
    if (device_ == nullptr) device_ = std::make_unique<Device>(open_(connection_));
    return *device_;
  }
  // Ends the session, whose process a kernel may rule that ran in it. The next one begins when it is needed.
  void end() {
    if (device_ != nullptr) finish_kernels(*device_);
    device_.reset();
  }

 private:
  const OpenSession& open_;
  ConnectOptions connection_;
  std::unique_ptr<Device> device_;
};

void measure_points(const OpenSession& open, const MeasuredKernel& kernel, const std::vector<SweepPoint>& points,
                    const MeasureOptions& options, const Observer& observer, const std::string& name,
                    Measurements& found) {
  Sessions sessions(open, kernel);
  for (const SweepPoint& point : points) {
    found.is_interrupted = observer.must_end();
    if (found.is_interrupted) return;
    MeasuredKernel one = kernel;
    apply(point, one.source, one.call.sizes);
    try {
      const std::unique_ptr<ReadyKernel> ready = prepare(sessions.device(), one, options, observer);
      if (ready->checked) sessions.end();
      found.done.push_back(measure_ready(sessions.device(), one, *ready, options, observer));
      if (!found.done.back().steps.empty()) sessions.end();
    } catch (const WrongResult&) {
      found.failures.push_back({name, std::current_exception()});
      sessions.end();
    }
  }
  sessions.end();
}

}  // namespace

Measurement measure(const Compiler* compiler, const Device& device, const Module& module, const std::string& function,
                    const std::vector<Argument>& arguments, const MeasureOptions& options, const Observer& observer) {
  Target target;
  if (compiler != nullptr) target = compiler->target_of(device.facts());
  return measure_function(device, module[function], arguments, compiler, target, module.manifest().target, nullptr,
                          options, observer);
}

Measurement measure(const Device& device, const MeasuredKernel& kernel, const MeasureOptions& options,
                    const Observer& observer) {
  return measure_ready(device, kernel, *prepare(device, kernel, options, observer), options, observer);
}

Measurements measure_on(std::span<const NamedDevice> devices, const MeasuredKernel& kernel,
                        std::span<const Sweep> sweeps, const MeasureOptions& options, const Observer& observer) {
  const std::vector<SweepPoint> points = points_of(sweeps, kernel.source);
  expect_sweepable(sweeps, kernel.source, kernel.function, kernel.call.sizes);
  Measurements found;
  for (const NamedDevice& device : devices) {
    if (found.is_interrupted) break;
    const auto fail = [&] { found.failures.push_back({device.name, std::current_exception()}); };
    try {
      with_retries(observer,
                   [&] { measure_points(device.open, kernel, points, options, observer, device.name, found); });
    } catch (const Error&) {
      // The signal that interrupts the work may also end the device's server.
      found.is_interrupted = observer.must_end();
      if (!found.is_interrupted) fail();
    }
  }
  return found;
}

}  // namespace ferry::bench
