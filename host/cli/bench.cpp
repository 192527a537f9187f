#include <cstdio>
#include <string>
#include <vector>

#include "host/cli/call_setup.h"
#include "host/cli/command.h"
#include "host/cli/format.h"
#include "host/cli/json.h"
#include "host/cli/kernel.h"
#include "host/cli/option_checks.h"
#include "host/cli/peak.h"
#include "host/cli/progress.h"
#include "host/cli/remote.h"
#include "host/cli/target_option.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelOptions kernel;
  CallOptions call;
  BenchOptions bench{1, 20, 10, 10};
  RemoteOptions remote;
  std::string target;
  bool without_peak = false;
  bool json = false;
};

struct Report {
  Timing timing;
  double flops = 0;  // of one call; 0: unknown
  double bytes = 0;  // of one call: every tensor once
  Peak peak;         // zeros: not measured
  DType peak_dtype = DType::f32;

  double flops_per_second() const { return flops / timing.median(); }
  double bytes_per_second() const { return bytes / timing.median(); }
};

// The type whose arithmetic the peak is measured in: that of the first float output, narrow floats computing in f32.
std::optional<DType> arithmetic_type(const FunctionInfo& function) {
  for (const ParameterInfo& parameter : function.parameters) {
    if (parameter.direction == Direction::in || !is_float(parameter.dtype)) continue;
    return parameter.dtype == DType::f64 ? DType::f64 : DType::f32;
  }
  return std::nullopt;
}

Report measure(const Device& device, const Target& target, const Function& function, const CallPlan& plan,
               const Options& options) {
  const FunctionInfo& info = function.info();
  Report report;
  const std::vector<Argument> arguments = make_arguments(info, plan, device);
  {
    const Progress progress("measuring " + info.name);
    report.timing = function.measure(arguments, options.bench);
  }
  const Result<std::int64_t> flops = evaluate(info.flops, plan.symbols);
  report.flops = flops.is_ok() ? static_cast<double>(flops.value()) : 0;
  report.bytes = static_cast<double>(plan.traffic_bytes(info));
  const auto type = arithmetic_type(info);
  if (options.without_peak || !type) return report;
  const Progress progress("measuring what the device can do at best");
  report.peak_dtype = *type;
  report.peak = measure_peak(device, target, *type, plan.traffic_bytes(info));
  return report;
}

void print_json_report(const Device& device, const FunctionInfo& info, const CompiledKernel& kernel,
                       const CallPlan& plan, const Report& report) {
  Json sizes = Json::object();
  for (std::size_t s = 0; s < info.symbols.size(); ++s) sizes[info.symbols[s]] = plan.symbols[s];
  Json json = {{"function", info.name},
               {"signature", signature_text(info)},
               {"sizes", sizes},
               {"device", device.name()},
               {"cpu", device.facts().cpu_name},
               {"target", kernel.module.manifest().target},
               {"threads", report.timing.threads},
               {"number", report.timing.number},
               {"warmup_calls", report.timing.warmup_calls},
               {"seconds", report.timing.seconds},
               {"median_seconds", report.timing.median()},
               {"deviation_seconds", report.timing.deviation()},
               {"minimum_seconds", report.timing.minimum()},
               {"bytes", report.bytes},
               {"bytes_per_second", report.bytes_per_second()}};
  if (report.flops > 0) {
    json["flops"] = report.flops;
    json["flops_per_second"] = report.flops_per_second();
  }
  if (report.peak.flops > 0) {
    json["peak_flops_per_second"] = report.peak.flops;
    json["peak_bytes_per_second"] = report.peak.bytes;
  }
  print_json(json);
}

void print_report(const Device& device, const FunctionInfo& info, const CompiledKernel& kernel, const CallPlan& plan,
                  const Report& report) {
  const Timing& timing = report.timing;
  printf("%s\n", signature_text(info).c_str());
  std::string sizes;
  for (std::size_t s = 0; s < info.symbols.size(); ++s) {
    sizes += (s == 0 ? "" : ", ") + info.symbols[s] + "=" + std::to_string(plan.symbols[s]);
  }
  const auto line = [](const char* what, const std::string& value) { printf("  %-10s %s\n", what, value.c_str()); };
  if (!sizes.empty()) line("sizes", sizes);
  line("device", device.name() + (device.facts().cpu_name.empty() ? "" : ", " + device.facts().cpu_name));
  line("target", kernel.module.manifest().target);
  line("threads", std::to_string(timing.threads));
  line("runs", count_text(timing.seconds.size()) + " samples of " + count_text(timing.number) + " calls each, after " +
                   count_text(timing.warmup_calls) + " to warm up");
  line("median", seconds_text(timing.median()));
  line("deviation", seconds_text(timing.deviation()) + ", median absolute");
  line("minimum", seconds_text(timing.minimum()));
  if (report.flops > 0) {
    std::string text = rate_text(report.flops_per_second(), "FLOP/s");
    if (report.peak.flops > 0) {
      text += ", " + percent_text(report.flops_per_second() / report.peak.flops) + " of the " +
              rate_text(report.peak.flops, "FLOP/s") + " measured with multiply-adds of " +
              dtype_name(report.peak_dtype) + " on this device";
    }
    line("speed", text);
  }
  std::string text = rate_text(report.bytes_per_second(), "B/s");
  if (report.peak.bytes > 0) {
    text += ", " + percent_text(report.bytes_per_second() / report.peak.bytes) + " of the " +
            rate_text(report.peak.bytes, "B/s") + " measured with a copy of that size on this device";
  }
  line("memory", text);
}

int bench(const Options& options) {
  const KernelSource source = read_kernel(options.kernel);
  const Device device = open_device(options.remote);
  const Target target = target_for(device, options.target);
  const CompiledKernel kernel = compile_kernel(source, options.kernel.function, target, options.call);
  const FunctionInfo& info = choose_function(kernel.module.manifest(), options.kernel.function, source.name);
  const CallPlan plan = plan_call(info, options.call);
  const Report report = measure(device, target, device.load(kernel.module)[info.name], plan, options);
  if (options.json) {
    print_json_report(device, info, kernel, plan, report);
  } else {
    print_report(device, info, kernel, plan, report);
  }
  return kExitFine;
}

}  // namespace

void add_bench(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("bench", "Time a kernel on its device");
  add_kernel_options(command, options->kernel, "The kernel: K.tc, a compiled K.ferry, or '-' for stdin");
  add_remote_option(command, options->remote);
  add_target_option(command, options->target);
  add_call_options(command, options->call);
  command.add_option("--number", options->bench.number, "Calls a sample, at least")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000'000))
      ->capture_default_str();
  command.add_option("--repeat", options->bench.repeat, "Samples")
      ->type_name("N")
      ->check(whole_number(1, 100'000))
      ->capture_default_str();
  command.add_option("--min-repeat-ms", options->bench.min_repeat_ms, "A sample takes at least this long")
      ->type_name("MS")
      ->check(number(0, 1e6))
      ->capture_default_str();
  command.add_option("--warmup-ms", options->bench.warmup_ms, "Calls for this long come first and are not counted")
      ->type_name("MS")
      ->check(number(0, 1e6))
      ->capture_default_str();
  command.add_flag("--no-peak", options->without_peak, "Do not measure what the device can do at best");
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n"
      "  ferry bench mm.tc --size M=512,N=512,K=512\n"
      "  ferry bench mm.tc --size M=512,N=512,K=512 --schedule mm.schedule\n"
      "  ferry bench mm.ferry --size M=512,N=512,K=512 --remote 192.168.1.17:9090 --repeat 50 --json");
  command.callback([options, &chosen] { chosen = [options] { return bench(*options); }; });
}

}  // namespace ferry::cli
