#include <cstdio>
#include <string>
#include <vector>

#include "host/cli/array_text.h"
#include "host/cli/bench_report.h"
#include "host/cli/call_setup.h"
#include "host/cli/check.h"
#include "host/cli/command.h"
#include "host/cli/compile_deadline.h"
#include "host/cli/format.h"
#include "host/cli/json.h"
#include "host/cli/kernel.h"
#include "host/cli/progress.h"
#include "host/cli/remote.h"
#include "host/cli/target_option.h"
#include "host/cli/tensor_file.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelOptions kernel;
  CallOptions call;
  CheckOptions check;
  RemoteOptions remote;
  std::string target;
  std::vector<std::string> outputs;
  bool json = false;
  bool wait_for_debugger = false;
};

struct Output {
  std::size_t parameter = 0;
  Tensor tensor;
  std::string file;
  std::vector<std::uint8_t> bytes;  // read back when somebody needs them
};

std::vector<Output> collect(const FunctionInfo& function, std::vector<Tensor> tensors,
                            const std::map<std::string, std::string>& files) {
  std::vector<Output> outputs;
  for (std::size_t p = 0; p < function.parameters.size(); ++p) {
    if (function.parameters[p].direction == Direction::in) continue;
    Output output{p, std::move(tensors[outputs.size()]), "", {}};
    if (const auto file = files.find(function.parameters[p].name); file != files.end()) output.file = file->second;
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

void read_back(Output& output, bool wanted) {
  if (!wanted) return;
  output.bytes.resize(output.tensor.bytes());
  const Progress progress("reading " + bytes_text(output.bytes.size()));
  output.tensor.read(output.bytes.data());
}

Json output_json(const FunctionInfo& function, const Output& output) {
  Json json = {{"name", function.parameters[output.parameter].name},
               {"dtype", dtype_name(output.tensor.dtype())},
               {"shape", output.tensor.shape()}};
  if (!output.file.empty()) json["file"] = output.file;
  if (output.tensor.elements() <= kPrintedElements) {
    json["text"] = array_text(output.tensor.dtype(), output.tensor.shape(), output.bytes.data());
  }
  return json;
}

void print_output(const FunctionInfo& function, const Output& output) {
  printf("%s = %s", function.parameters[output.parameter].name.c_str(),
         shape_text(output.tensor.dtype(), output.tensor.shape()).c_str());
  if (!output.file.empty()) printf(" in %s", output.file.c_str());
  printf("\n");
  if (output.file.empty() && output.tensor.elements() <= kPrintedElements) {
    printf("%s\n", array_text(output.tensor.dtype(), output.tensor.shape(), output.bytes.data()).c_str());
  }
}

// All that needs the device, in one session.
struct Session {
  std::string device;
  CompiledKernel kernel;
  FunctionInfo info;
  CallPlan plan;
  std::optional<lang::Program> program;  // to check against
  std::vector<Output> outputs;
  double seconds = 0;
  std::vector<StepTime> steps;
};

Session run_on_device(const Options& options, const KernelSource& source,
                      const std::map<std::string, std::string>& files) {
  ConnectOptions connection;
  connection.wait_for_debugger = options.wait_for_debugger;
  connection.devices = devices_for(options.target, source);
  const Device device = open_device(options.remote, connection);
  CompiledKernel kernel =
      compile_kernel(source, options.kernel.function, target_for(device, options.target, source), options.call);
  FunctionInfo info = choose_function(kernel.module.manifest(), options.kernel.function, source.name);
  expect_outputs(info, files);
  CallPlan plan = plan_call(info, options.call);
  std::optional<lang::Program> program;
  if (options.check.check) program = program_of(source, info.name);

  const Function function = device.load(kernel.module)[info.name];
  const std::vector<Argument> arguments = make_arguments(info, plan, device);
  TimedOutputs timed = [&] {
    const Progress progress("running " + info.name);
    return function.call_timed(arguments);
  }();
  std::vector<Output> outputs = collect(info, std::move(timed.outputs), files);
  for (Output& output : outputs) {
    read_back(output, options.check.check || !output.file.empty() || output.tensor.elements() <= kPrintedElements);
  }
  const double seconds = static_cast<double>(function.last_elapsed_ns()) * 1e-9;
  const std::string where =
      device.name() + (device.processor() == device.facts().cpu_name ? "" : ", " + device.processor());
  return {where,   std::move(kernel),     std::move(info), std::move(plan), std::move(program), std::move(outputs),
          seconds, std::move(timed.steps)};
}

int run(const Options& options) {
  KernelSource source = read_kernel(options.kernel);
  source.deadline = first_deadline(source.deadline, options.remote.deadlines.session);
  const std::map<std::string, std::string> files = parse_outputs(options.outputs);
  const Session session = with_retries([&] { return run_on_device(options, source, files); });
  const FunctionInfo& info = session.info;
  std::vector<std::vector<std::uint8_t>> results(info.parameters.size());
  for (const Output& output : session.outputs) {
    if (!output.file.empty()) {
      write_tensor(output.file, output.tensor.dtype(), output.tensor.shape(), output.bytes);
    }
    results[output.parameter] = output.bytes;
  }
  std::vector<CheckResult> checks;
  if (session.program) {
    const Progress progress("checking");
    checks = check_outputs(*session.program, info, session.plan, results, options.check);
  }
  bool wrong = false;
  for (const CheckResult& result : checks) wrong = wrong || result.wrong > 0;

  if (options.json) {
    Json outputs_json = Json::array(), checks_json = Json::array();
    for (const Output& output : session.outputs) outputs_json.push_back(output_json(info, output));
    for (const CheckResult& result : checks) checks_json.push_back(check_json(result));
    Json json = {{"function", info.name},
                 {"device", session.device},
                 {"target", session.kernel.module.manifest().target},
                 {"compile_ms", session.kernel.compile_ms},
                 {"module_bytes", session.kernel.module.bytes().size()},
                 {"seconds", session.seconds},
                 {"outputs", outputs_json}};
    if (!session.steps.empty()) json["steps"] = steps_json(session.steps);
    if (session.program) json["check"] = checks_json;
    print_json(json);
  } else {
    for (const Output& output : session.outputs) print_output(info, output);
    for (const CheckResult& result : checks) printf("%s\n", to_text(result).c_str());
    printf("%s: %s on %s\n", info.name.c_str(), seconds_text(session.seconds).c_str(), session.device.c_str());
    if (session.steps.size() > 1) print_steps(session.steps);
  }
  if (!wrong) return kExitFine;
  fflush(stdout);
  for (const CheckResult& result : checks) {
    if (result.wrong > 0) fprintf(stderr, "ferry: wrong result: %s\n", result.first_wrong.c_str());
  }
  return kExitWrongResult;
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
  command.add_flag("--wait-for-debugger", options->wait_for_debugger,
                   "Say how to attach a debugger on the device, and run once one is there");
  add_json_option(command, options->json);
  command.footer(
      "Examples:\n"
      "  ferry run mm.tc --size M=64,N=64,K=64 --check\n"
      "  ferry run mm.tc --arg A=@a.npy --arg B=f32[64,64]:ones --out C=@c.npy --remote 192.168.1.17:9090\n"
      "  ferry run mm.tc --size M=64,N=64,K=64 --schedule mm.schedule --knob rows=8 --check\n"
      "  ferry run -e 'def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }' --arg A=f32[5]:iota");
  command.callback([options, &chosen] { chosen = [options] { return run(*options); }; });
}

}  // namespace ferry::cli
