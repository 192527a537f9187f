#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/printable.h"
#include "base/quantity_text.h"
#include "host/cli/commands/bench_report.h"
#include "host/cli/commands/check_report.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/call_options.h"
#include "host/cli/options/check_options.h"
#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/junit_option.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/output_option.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/cli/options/top_option.h"
#include "host/kernel/default_indices.h"
#include "host/run/run_once.h"
#include "host/text/array_json.h"
#include "host/text/array_text.h"
#include "host/text/json.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelCommand kernel;
  RecordsOption records;
  MediaOption media;
  TopOption top;
  CallOptions call;
  CheckOptions check;
  RemoteOptions remote;
  std::string target;
  std::vector<std::string> outputs, expected;
  std::string dump;  // path of a folder
  std::string peer;  // name
  decltype(Peer::results) results_of_peer = nullptr;
  std::string check_against;  // path of a file
  std::string junit;          // path of a file
  bool json = false;
  bool quiet = false;
  bool wait_for_debugger = false;
};

const std::string& name_of(const FunctionInfo& function, const RunOutput& output) {
  return output.is_inner ? output.name : function.parameters[output.parameter].name;
}

using TopRows = std::vector<std::vector<TopElement>>;

// Returns the greatest elements of a tensor, if they are wanted.
TopRows top_of(const RunOutput& output, const TopOption& top, const std::vector<std::string>& labels) {
  const bool is_wanted = top.count > 0 && !output.bytes.empty() && !output.shape.empty() && output.shape.back() > 1;
  return is_wanted ? top_elements(output.dtype, output.shape, output.bytes, top.count, labels) : TopRows();
}

text::Json output_json(const FunctionInfo& function, const RunOutput& output, const TopRows& rows) {
  text::Json json = {{"name", name_of(function, output)}, {"dtype", dtype_name(output.dtype)}, {"shape", output.shape}};
  if (!output.file.empty()) json["file"] = output.file;
  if (output.elements <= text::kPrintedElements) {
    json["text"] = text::array_text(output.dtype, output.shape, output.bytes.data());
    json["values"] = text::array_json(output.dtype, output.shape, output.bytes.data());
  }
  for (const std::vector<TopElement>& row : rows) {
    text::Json& elements = json["top"].emplace_back(text::Json::array());
    for (const TopElement& one : row)
      elements.push_back({{"index", one.index},
                          {"value", std::isfinite(one.value) ? text::Json(one.value) : text::Json(nullptr)},
                          {"label", one.label.empty() ? text::Json(nullptr) : text::Json(one.label)}});
  }
  return json;
}

void print_output(const FunctionInfo& function, const RunOutput& output, const TopRows& rows) {
  printf("%s = %s", printable(name_of(function, output)).c_str(), shape_text(output.dtype, output.shape).c_str());
  if (!output.file.empty()) printf(" in %s", output.file.c_str());
  printf("\n");
  if (!rows.empty()) {
    for (const std::string& line : top_lines(name_of(function, output), rows)) printf("%s\n", line.c_str());
  } else if (output.file.empty() && output.elements <= text::kPrintedElements) {
    printf("%s\n", text::array_text(output.dtype, output.shape, output.bytes.data()).c_str());
  }
}

void print_run(const RunReport& ran, const Options& options, const std::vector<std::string>& labels) {
  const bool is_dumped = !options.dump.empty();
  for (const RunOutput& output : ran.outputs)
    if (!output.is_inner || (!is_dumped && !output.file.empty()))
      print_output(ran.function, output, top_of(output, options.top, labels));
  if (is_dumped) printf("%s tensors in %s\n", count_text(ran.outputs.size()).c_str(), options.dump.c_str());
  for (const std::string& line : lines_of(ran.findings, options.check_against)) printf("%s\n", line.c_str());
  if (ran.has_random_inputs) printf("%s\n", inputs_text(options.call.seed).c_str());
  printf("%s: %s (one call%s, not isolated) on %s\n", ran.function.name.c_str(), seconds_text(ran.seconds).c_str(),
         ran.is_emulated ? ", emulated" : "", ran.device.c_str());
  if (ran.steps.size() > 1) print_steps(ran.steps);
}

text::Json run_json(const RunReport& ran, const Options& options, const std::vector<std::string>& labels) {
  text::Json outputs = text::Json::array();
  for (const RunOutput& output : ran.outputs)
    outputs.push_back(output_json(ran.function, output, top_of(output, options.top, labels)));
  text::Json json = {{"schema", "ferry.run/1"}, {"function", ran.function.name}, {"device", ran.device},
                     {"target", ran.target},    {"compile_ms", ran.compile_ms},  {"module_bytes", ran.module_bytes},
                     {"seconds", ran.seconds},  {"seed", options.call.seed},     {"outputs", outputs},
                     {"isolation", "none"}};
  if (!ran.steps.empty()) json["steps"] = steps_json(ran.steps);
  add_findings(ran.findings, options.check.check, json);
  return json;
}

int run(const Compiler* compiler, const Options& options, text::JUnitReport& report) {
  expect_checked(options.check, options.check.check || !options.check_against.empty());
  const ExpectedFiles expected = parse_expected(options.expected);
  const std::vector<std::string> labels = read_labels(options.top);
  RunRequest request;
  request.kernels = verify::read_checked_pair(compiler, options.kernel, options.check_against, terminal());
  use_records(options.records, request.kernels.source);
  request.function = options.kernel.function;
  request.call = options.call;
  read_media(options.media, request.kernels.source, request.function, request.call, terminal());
  add_default_indices(request.kernels.source, request.call);
  request.target = options.target;
  request.by_definition = options.check.check;
  request.limits = options.check.limits;
  request.thorough = options.check.thorough;
  request.files = parse_outputs(options.outputs);
  request.dump = options.dump;
  request.expected = expected.files;
  request.expected_folder = expected.folder;
  const char* python = std::getenv("FERRY_PYTHON");
  request.peer = {options.peer, python != nullptr && *python != '\0' ? python : "python3", options.results_of_peer};
  request.most_elements = options.top.count > 0 ? ~std::uint64_t{0} : text::kPrintedElements;
  request.wait_for_debugger = options.wait_for_debugger;
  const Observer observer = terminal(first_deadline(options.kernel.deadline, options.remote.deadlines.session));
  const RunReport ran = run_once(opening(options.remote), request, observer);
  report.cases.push_back({.name = ran.function.name + " runs", .seconds = ran.seconds});
  add_cases(ran.findings, options.check_against, report);
  if (options.json) {
    text::print_json(run_json(ran, options, labels));
  } else if (!options.quiet) {
    print_run(ran, options, labels);
  }
  print_warnings(ran.findings);
  print_mistakes(ran.findings, request.kernels.source.name, options.check_against);
  return ran.findings.is_fine() ? kExitFine : kExitWrongResult;
}

}  // namespace

void add_run(CLI::App& app, Action& chosen, const session::Schemes& schemes, ReadRecords read_records,
             ReadMedia read_media, decltype(Peer::results) peer) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("run", "Run a kernel once and show what it computed");
  add_kernel_options(command, options->kernel,
                     "The kernel: K.tc, K.c, K.cpp, K.cu, K.ll, K.o, a compiled K.ferry, or '-' for stdin");
  add_foreign_options(command, options->kernel);
  add_records_option(command, options->records, read_records);
  add_media_option(command, options->media, read_media);
  add_top_option(command, options->top);
  add_remote_option(command, options->remote, schemes);
  add_target_option(command, options->target);
  CLI::Option* const seed = &add_call_options(command, options->call, DefaultSeed::if_checked);
  command
      .add_option("--out", options->outputs,
                  "Write this output to a file: C=@c.npy; of a network also any tensor inside, or what a node computes")
      ->type_name("NAME=@FILE")
      ->type_size(1)
      ->allow_extra_args(false);
  command.add_option("--dump", options->dump, "Write the inputs and all tensors of a network to files in a folder")
      ->type_name("FOLDER");
  add_check_options(command, options->check);
  add_check_against_option(command, options->check_against);
  command
      .add_option("--expect", options->expected,
                  "Compare with a file, y=@ref.npy, or with all files of a folder that has the names of a dump; exit\n"
                  "code 1 when they differ")
      ->type_name("NAME=@FILE|FOLDER")
      ->type_size(1)
      ->allow_extra_args(false);
  options->results_of_peer = peer;
  if (peer != nullptr) {
    command
        .add_option("--against", options->peer,
                    "Compare a network with what onnxruntime computes here, in $FERRY_PYTHON or else python3")
        ->type_name("PEER")
        ->check(one_of({"onnxruntime"}));
  }
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
      "  ferry run resnet18.onnx --arg x=@cat.jpg --preprocess imagenet --top 5 --labels imagenet.txt\n"
      "  ferry run mm.tc --size M=64,N=64,K=64 --schedule mm.schedule --knob rows=8 --check\n"
      "  ferry run mine.c --size M=64,N=64,K=64 --check-against mm.tc\n"
      "  ferry run mine.cu --size M=64,N=64,K=64 --check-against mm.tc --remote ssh://gpu-box\n"
      "  ferry run net.onnx --arg x=@x.npy --expect y=@y.npy --out /layer1/Relu_output_0=@relu.npy\n"
      "  ferry run net.onnx --against onnxruntime --dump tensors\n"
      "  ferry run -e 'def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }' --arg A=f32[5]:iota");
  command.callback([options, seed, &chosen] {
    if (options->check.check || !options->check_against.empty()) draw_seed(*seed, options->kernel.file, options->call);
    chosen = [options](const Compiler* compiler) {
      const std::string suite = "ferry run " + (options->kernel.file.empty() ? "-e" : options->kernel.file);
      return with_junit(options->junit, suite,
                        [&](text::JUnitReport& report) { return run(compiler, *options, report); });
    };
  });
}

}  // namespace ferry::cli
