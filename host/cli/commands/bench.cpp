#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "base/printable.h"
#include "crosscompile/compile.h"
#include "host/cli/commands/bench_report.h"
#include "host/cli/commands/command.h"
#include "host/cli/commands/sweep.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/measure_options.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/cli/output/progress.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/kernel_failure.h"

namespace ferry::cli {

namespace {

// Limits of timing the kernels of a call one by one.
constexpr double kStepSeconds = 0.2, kMostStepCalls = 50;

struct Options {
  KernelCommand kernel;
  CallOptions call;
  MeasureOptions measure{
      {.number = 0, .repeat = 40, .min_repeat_ms = 10, .warmup_ms = 10, .max_repeat = 100, .timeout_ms = 10'000}};
  RemoteOptions remote;
  std::vector<std::string> addresses;
  std::string target;
  std::string sweep;
  bool without_peak = false;
  bool json = false;
};

// Returns the type for which the arithmetic peak is measured: that of the first float output; narrow floats compute in
// f32.
std::optional<DType> arithmetic_type(const FunctionInfo& function) {
  for (const ParameterInfo& parameter : function.parameters) {
    if (parameter.direction == Direction::in || !is_float(parameter.dtype)) continue;
    return parameter.dtype == DType::f64 ? DType::f64 : DType::f32;
  }
  return std::nullopt;
}

std::vector<std::string> constants_of(const Function& function) {
  std::vector<std::string> names;
  if (const FunctionInfo* preparation = function.preparation()) {
    for (const ParameterInfo& parameter : preparation->parameters)
      if (parameter.direction == Direction::in) names.push_back(parameter.name);
  }
  return names;
}

BenchReport measure(const Device& device, const KernelSource& source, const CallOptions& call, const Options& options) {
  const Observer observer = terminal(first_deadline(options.kernel.deadline, options.remote.deadlines.session));
  const Target target = target_for(device, options.target, source, observer);
  const CompiledKernel kernel = compile_kernel(source, options.kernel.function, target, call, observer);
  const FunctionInfo& info = choose_function(kernel.module.manifest(), options.kernel.function, source.name);
  const CallPlan plan = plan_call(info, call);
  const Function function = device.load(kernel.module)[info.name];
  const std::vector<Argument> arguments = make_arguments(info, plan, device, observer);
  BenchReport report{
      info, plan.symbols, device.name(), device.processor(), device.facts(), kernel.module.manifest().target};
  report.cold = options.measure.bench.cold;
  report.constants = constants_of(function);
  report.flops = [&] {
    const Result<std::int64_t> flops = evaluate(info.flops, plan.symbols);
    return flops.is_ok() ? static_cast<double>(flops.value()) : 0;
  }();
  report.bytes = static_cast<double>(plan.traffic_bytes(info));
  const BenchOptions bench = bench_options_for(options.measure, device);
  std::function<Peak()> peak;
  if (const auto type = arithmetic_type(info); type && !options.without_peak && !target.is_gpu() && has_compiler()) {
    const Progress progress("measuring what the device can do at best");
    report.peak_dtype = *type;
    peak = peak_meter(device, target, *type, plan.traffic_bytes(info), bench);
    report.peak = peak();
  }
  {
    const Progress progress("measuring " + info.name);
    report.timing = run_kernel(device, {info.name}, [&] { return function.measure(arguments, bench); });
  }
  if (peak) {
    const Progress progress("measuring what the device can do at best");
    report.peak = better(report.peak, peak());
  }
  if (!info.plan.empty()) {
    const double most = kStepSeconds / std::max(report.timing.median(), 1e-6);
    const auto repeat = static_cast<std::uint32_t>(std::clamp(most, 1.0, kMostStepCalls));
    report.steps = function.call_timed(arguments, repeat, report.cold).steps;
  }
  return report;
}

// Measures one device for every size, in one session.
void bench_device(const RemoteOptions& remote, const KernelSource& source, const Sweep& sweep, const Options& options,
                  std::vector<BenchReport>& reports) {
  ConnectOptions connection;
  connection.devices = devices_for(options.target, source);
  const Device device = open_device(remote, connection);
  if (sweep.sizes.empty()) reports.push_back(measure(device, source, options.call, options));
  for (const std::int64_t size : sweep.sizes) {
    CallOptions call = options.call;
    call.sizes.push_back(sweep.name + "=" + std::to_string(size));
    reports.push_back(measure(device, source, call, options));
  }
  finish_kernels(device);
}

// If one device fails, its earlier results and those of the other devices are kept.
BenchRun bench_all(const KernelSource& source, const Sweep& sweep, const Options& options) {
  std::vector<std::string> addresses = options.addresses;
  if (addresses.empty()) addresses.emplace_back();
  BenchRun run;
  for (const std::string& address : addresses) {
    RemoteOptions remote = options.remote;
    remote.address = address;
    const auto fail = [&](const std::string& code, const char* message, int exit_code) {
      if (addresses.size() == 1 && run.reports.empty()) throw;
      run.failures.push_back({address.empty() ? "this machine" : address, code, message, exit_code});
    };
    try {
      with_retries([&] { bench_device(remote, source, sweep, options, run.reports); });
    } catch (const KernelFailed& error) {
      fail("kernel_failed", error.what(), kExitWrongResult);
    } catch (const UsageError& error) {
      fail("usage", error.what(), kExitUserError);
    } catch (const CompileError& error) {
      fail("compile", error.what(), kExitUserError);
    } catch (const RemoteError& error) {
      fail(error_name(error.code()), error.what(), exit_code_of(error.code()));
    }
  }
  return run;
}

int bench(const Options& options) {
  const KernelSource source = read_kernel(options.kernel, terminal());
  Sweep sweep;
  if (!options.sweep.empty()) sweep = parse_sweep(options.sweep);
  const BenchRun run = bench_all(source, sweep, options);
  if (options.json) {
    print_json(to_json(run));
  } else if (run.reports.size() == 1) {
    print_report(run.reports.front());
  } else if (!run.reports.empty()) {
    print_table(run.reports);
  }
  fflush(stdout);
  int code = kExitFine;
  for (const BenchFailure& failure : run.failures) {
    fprintf(stderr, "ferry: %s: %s\n", failure.device.c_str(), printable_lines(failure.message).c_str());
    code = std::max(code, failure.exit_code);
  }
  return code;
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("bench", "Time a kernel on its device, or on several");
  add_kernel_options(command, options->kernel,
                     "The kernel: K.tc, K.c, K.cpp, K.ll, K.o, a compiled K.ferry, or '-' for stdin");
  add_foreign_options(command, options->kernel);
  add_remotes_option(command, options->addresses, options->remote);
  add_target_option(command, options->target);
  add_call_options(command, options->call);
  command.add_option("--sweep", options->sweep, "Measure for each size: N=2^8..2^24, N=100..500+100 or N=1,7,64")
      ->type_name("NAME=SIZES");
  add_measure_options(command, options->measure);
  command.add_flag("--no-peak", options->without_peak, "Do not measure what the device can do at best");
  add_json_option(command, options->json);
  command.footer(
      "docs/measuring.md says how times are taken, what the numbers mean and what --json prints.\n\n"
      "Examples:\n"
      "  ferry bench mm.tc --size M=512,N=512,K=512\n"
      "  ferry bench mm.tc --size M=512,N=512,K=512 --schedule mm.schedule\n"
      "  ferry bench add.tc --sweep N=2^8..2^24 --cold --cores big --threads 1\n"
      "  ferry bench mm.ferry --size M=512,N=512,K=512 -r 192.168.1.17:9090 -r 192.168.1.18:9090 --json");
  command.callback([options, &chosen, &command] {
    // An explicit number of samples is not extended.
    if (command.count("--repeat") > 0 && command.count("--max-repeat") == 0) options->measure.bench.max_repeat = 0;
    chosen = [options] { return bench(*options); };
  });
}

}  // namespace ferry::cli
