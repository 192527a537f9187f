#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "base/quantity_text.h"
#include "host/cli/commands/bench_report.h"
#include "host/cli/commands/check_report.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/check_options.h"
#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/junit_option.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/output_option.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/cli/output/array_json.h"
#include "host/cli/output/array_text.h"
#include "host/cli/output/json.h"
#include "host/cli/output/progress.h"
#include "host/cli/output/style.h"
#include "host/kernel/call_plan.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/kernel_failure.h"
#include "host/kernel/tensor_file.h"
#include "host/verify/check_against.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelCommand kernel;
  CallOptions call;
  CheckOptions check;
  RemoteOptions remote;
  std::string target;
  std::vector<std::string> outputs;
  std::string check_against;  // path of a file
  std::string junit;          // path of a file
  bool json = false;
  bool quiet = false;
  bool wait_for_debugger = false;
};

struct Output {
  std::size_t parameter = 0;
  DType dtype = DType::f32;
  Shape shape;
  std::uint64_t elements = 0;
  std::string file;
  std::vector<std::uint8_t> bytes;  // read back only if needed
};

// Returns the outputs, read back if they are wanted or short enough to be printed.
std::vector<Output> collect(const FunctionInfo& function, const std::vector<DeviceTensor>& tensors,
                            const std::map<std::string, std::string>& files, bool wanted) {
  std::vector<Output> outputs;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    if (function.parameters[p].direction == Direction::in) continue;
    const DeviceTensor& tensor = tensors[outputs.size()];
    Output output{p, tensor.dtype(), tensor.shape(), tensor.elements(), "", {}};
    if (const auto file = files.find(function.parameters[p].name); file != files.end()) output.file = file->second;
    if (wanted || !output.file.empty() || output.elements <= kPrintedElements) {
      output.bytes.resize(tensor.bytes());
      const Progress progress("reading " + bytes_text(output.bytes.size()));
      tensor.read(output.bytes.data());
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

void expect_outputs(const FunctionInfo& function, const std::map<std::string, std::string>& files) {
  std::vector<std::string> names;
  for (const ParameterInfo& parameter : function.parameters) {
    if (parameter.direction != Direction::in) names.push_back(parameter.name);
  }
  for (const auto& [name, file] : files) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw UsageError("--out " + name + "=@" + file + ": " + function.name + " has no output '" + name +
                     "'; expected one of: " + join(", ", names));
  }
}

Json output_json(const FunctionInfo& function, const Output& output) {
  Json json = {{"name", function.parameters[output.parameter].name},
               {"dtype", dtype_name(output.dtype)},
               {"shape", output.shape}};
  if (!output.file.empty()) json["file"] = output.file;
  if (output.elements <= kPrintedElements) {
    json["text"] = array_text(output.dtype, output.shape, output.bytes.data());
    json["values"] = array_json(output.dtype, output.shape, output.bytes.data());
  }
  return json;
}

void print_output(const FunctionInfo& function, const Output& output) {
  printf("%s = %s", function.parameters[output.parameter].name.c_str(), shape_text(output.dtype, output.shape).c_str());
  if (!output.file.empty()) printf(" in %s", output.file.c_str());
  printf("\n");
  if (output.file.empty() && output.elements <= kPrintedElements) {
    printf("%s\n", array_text(output.dtype, output.shape, output.bytes.data()).c_str());
  }
}

// The results of everything that needs the device, in one session.
struct Session {
  std::string device;
  std::string target;
  double compile_ms = 0;
  std::size_t module_bytes = 0;
  FunctionInfo info;
  CallPlan plan;
  std::optional<lang::Program> program;  // to check against
  std::vector<Output> outputs;
  double seconds = 0;
  std::vector<StepTime> steps;
  std::vector<verify::OutputComparison> compared;  // with another kernel that ran there

  verify::Outputs results(const FunctionInfo& function) const {
    verify::Outputs results(function.parameters.size());
    for (const Output& output : outputs) results[output.parameter] = output.bytes;
    return results;
  }
};

Session run_on_device(const Options& options, const KernelSource& source, const std::optional<KernelSource>& against,
                      const std::map<std::string, std::string>& files) {
  ConnectOptions connection;
  connection.wait_for_debugger = options.wait_for_debugger;
  connection.devices = devices_for(options.target, source);
  connection.guard_tensors = may_leave_tensors(source) || (against && may_leave_tensors(*against));
  const Device device = open_device(options.remote, connection);
  const Observer observer = terminal(first_deadline(options.kernel.deadline, options.remote.deadlines.session));
  const Target target = target_for(device, options.target, source, observer);
  const CompiledKernel kernel = compile_kernel(source, options.kernel.function, target, options.call, observer);
  FunctionInfo info = choose_function(kernel.module.manifest(), options.kernel.function, source.name);
  expect_outputs(info, files);
  CallPlan plan = plan_call(info, options.call);
  std::optional<lang::Program> program;
  if (options.check.check) program = program_of(source, info.name);

  Session session;
  {
    const Function function = device.load(kernel.module)[info.name];
    const std::vector<Argument> arguments = make_arguments(info, plan, device, observer);
    TimedOutputs timed = run_kernel(device, {info.name}, [&] {
      const Progress progress("running " + info.name);
      return function.call_timed(arguments);
    });
    session.outputs = collect(info, timed.outputs, files, options.check.check || against);
    session.steps = std::move(timed.steps);
    session.seconds = static_cast<double>(function.last_elapsed_ns()) * 1e-9;
  }
  if (against && !has_definition(*against)) {
    session.compared = verify::compare_on_device(device, *against, target, {info, plan, session.results(info)},
                                                 options.call, {options.check.limits.rtol, options.check.limits.atol},
                                                 terminal(options.kernel.deadline));
  }
  finish_kernels(device);
  session.device = device.name() + (device.processor() == device.facts().cpu_name ? "" : ", " + device.processor());
  session.target = kernel.module.manifest().target;
  session.compile_ms = kernel.compile_ms;
  session.module_bytes = kernel.module.bytes().size();
  session.info = std::move(info);
  session.plan = std::move(plan);
  session.program = std::move(program);
  return session;
}

std::vector<verify::CheckResult> check(const Options& options, const Session& session,
                                       const std::optional<KernelSource>& against) {
  const Progress progress("checking");
  std::vector<verify::CheckResult> checks;
  const verify::Outputs results = session.results(session.info);
  if (session.program)
    checks = verify::check_outputs(*session.program, session.info, session.plan, results, options.check.limits);
  if (against && has_definition(*against)) {
    std::vector<verify::CheckResult> more =
        verify::check_against_definition(*against, {session.info, session.plan, results}, options.check.limits);
    std::move(more.begin(), more.end(), std::back_inserter(checks));
  }
  return checks;
}

void print_run(const Session& session, const std::vector<verify::CheckResult>& checks, const std::string& against) {
  for (const Output& output : session.outputs) print_output(session.info, output);
  for (const verify::CheckResult& result : checks) printf("%s\n", to_text(result).c_str());
  for (const verify::OutputComparison& output : session.compared) printf("%s\n", to_text(output, against).c_str());
  printf("%s: %s on %s\n", session.info.name.c_str(), seconds_text(session.seconds).c_str(), session.device.c_str());
  if (session.steps.size() > 1) print_steps(session.steps);
}

Json run_json(const Session& session, const std::vector<verify::CheckResult>& checks) {
  Json outputs = Json::array(), checked = Json::array(), compared = Json::array();
  for (const Output& output : session.outputs) outputs.push_back(output_json(session.info, output));
  for (const verify::CheckResult& result : checks) checked.push_back(check_json(result));
  for (const verify::OutputComparison& output : session.compared) compared.push_back(comparison_json(output));
  Json json = {{"schema", "ferry.run/1"},          {"function", session.info.name},
               {"device", session.device},         {"target", session.target},
               {"compile_ms", session.compile_ms}, {"module_bytes", session.module_bytes},
               {"seconds", session.seconds},       {"outputs", outputs}};
  if (!session.steps.empty()) json["steps"] = steps_json(session.steps);
  if (!checks.empty() || session.program) json["check"] = checked;
  if (!session.compared.empty()) json["compared"] = compared;
  return json;
}

int run(const Options& options, JUnitReport& report) {
  const verify::CheckedPair kernels = verify::read_checked_pair(options.kernel, options.check_against, terminal());
  const KernelSource& source = kernels.source;
  const std::optional<KernelSource>& against = kernels.against;
  const std::map<std::string, std::string> files = parse_outputs(options.outputs);
  const Session session = with_retries(terminal(), [&] { return run_on_device(options, source, against, files); });
  for (const Output& output : session.outputs) {
    if (!output.file.empty()) write_tensor(output.file, output.dtype, output.shape, output.bytes);
  }
  const std::vector<verify::CheckResult> checks = check(options, session, against);
  report.cases.push_back({.name = session.info.name + " runs", .seconds = session.seconds});
  add_cases(checks, report);
  add_cases(session.compared, options.check_against, report);
  if (options.json) {
    print_json(run_json(session, checks));
  } else if (!options.quiet) {
    print_run(session, checks, options.check_against);
  }
  print_mistakes(checks);
  bool wrong = std::any_of(checks.begin(), checks.end(), [](const auto& result) { return result.wrong > 0; });
  if (const std::string difference = verify::difference_text(session.compared); !difference.empty()) {
    print_error(source.name + " and " + against->name + " differ: " + difference);
    wrong = true;
  }
  return wrong ? kExitWrongResult : kExitFine;
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("run", "Run a kernel once and show what it computed");
  add_kernel_options(command, options->kernel,
                     "The kernel: K.tc, K.c, K.cpp, K.ll, K.o, a compiled K.ferry, or '-' for stdin");
  add_foreign_options(command, options->kernel);
  add_remote_option(command, options->remote);
  add_target_option(command, options->target);
  add_call_options(command, options->call);
  command.add_option("--out", options->outputs, "Write this output to a file: C=@c.npy")
      ->type_name("NAME=@FILE")
      ->type_size(1)
      ->allow_extra_args(false);
  add_check_options(command, options->check);
  add_check_against_option(command, options->check_against);
  command.add_flag("--wait-for-debugger", options->wait_for_debugger,
                   "Say how to attach a debugger on the device, and run once one is there");
  add_json_option(command, options->json);
  command.add_flag("-q,--quiet", options->quiet, "Print nothing but mistakes; the exit code and --out have the result")
      ->excludes("--json");
  add_junit_option(command, options->junit);
  command.footer(
      "Examples:\n"
      "  ferry run mm.tc --size M=64,N=64,K=64 --check\n"
      "  ferry run embed.tc --size N=1000,D=64 --arg I=i32[32]:below(N) --arg E=:normal\n"
      "  ferry run mm.tc --arg A=@a.npy --arg B=f32[64,64]:ones --out C=@c.npy --remote 192.168.1.17:9090\n"
      "  ferry run mm.tc --size M=64,N=64,K=64 --schedule mm.schedule --knob rows=8 --check\n"
      "  ferry run mine.c --size M=64,N=64,K=64 --check-against mm.tc\n"
      "  ferry run -e 'def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }' --arg A=f32[5]:iota");
  command.callback([options, &chosen] {
    chosen = [options] {
      const std::string suite = "ferry run " + (options->kernel.file.empty() ? "-e" : options->kernel.file);
      return with_junit(options->junit, suite, [&](JUnitReport& report) { return run(*options, report); });
    };
  });
}

}  // namespace ferry::cli
