#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "base/printable.h"
#include "host/cli/gate/gate_command.h"
#include "host/gate/suite/new_suite.h"
#include "host/kernel/call_plan.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/file.h"
#include "host/text/progress.h"
#include "host/text/style.h"

namespace ferry::cli {

namespace {

constexpr double kMostSeconds = 2;

struct InitOptions {
  std::string folder = ".", output = "suite.toml";
  bool force = false;
};

// Returns the seconds that a call takes on this machine; nothing if it cannot be compiled for it, fails, or takes long.
std::optional<double> seconds_here(const KernelSource& source, const std::string& function, const CallOptions& call) {
  const text::Progress progress("timing " + printable(function));
  try {
    ConnectOptions options;
    options.deadlines.call = kMostSeconds;
    const Device device = local_device(options);
    const Target target = target_for(device, "", source);
    const CompiledModule compiled = compile_kernel(source, function, target, call).module;
    const FunctionInfo info = choose_function(compiled.manifest(), function, source.name);
    const std::vector<Argument> arguments = make_arguments(info, plan_call(info, call), device);
    return device.load(compiled)[info.name]
        .measure(arguments, {.repeat = 5, .min_repeat_ms = 0.5, .warmup_ms = 0})
        .median();
  } catch (const Error&) {
    return std::nullopt;
  }
}

int write_suite(const Compiler* compiler, const InitOptions& options) {
  const std::filesystem::path output = options.output;
  if (options.output != "-" && !options.force && std::filesystem::exists(output))
    throw UsageError(options.output + " exists already; --force replaces it");
  const std::filesystem::path beside = options.output == "-" ? "." : output.parent_path();
  const gate::NewSuite suite = gate::suite_for(expect_compiler(compiler, "ferry gate"), options.folder,
                                               beside.empty() ? "." : beside.string(), seconds_here);
  write_file(options.output, suite.text.data(), suite.text.size());
  for (const gate::SkippedFiles& skipped : suite.skipped)
    text::print_note("skipped " + skipped.what + ": " + skipped.why);
  text::print_note("wrote " + std::to_string(suite.cases) + (suite.cases == 1 ? " case" : " cases") + " to " +
                   options.output);
  return kExitFine;
}

}  // namespace

void add_gate_init(CLI::App& gate, Action& chosen) {
  auto options = std::make_shared<InitOptions>();
  CLI::App& command = *gate.add_subcommand("init", "Write a suite for a folder of kernels, as a start");
  command.add_option("folder", options->folder, "The folder with the kernels")
      ->type_name("FOLDER")
      ->capture_default_str();
  command.add_option("-o,--output", options->output, "The suite; '-': standard output")
      ->type_name("FILE")
      ->capture_default_str();
  command.add_flag("--force", options->force, "Replace a suite that exists");
  command.footer(
      "Sizes that a kernel leaves open are chosen by timing calls on this machine: about a millisecond, unless its\n"
      "tensors would need more than 4 MiB. Change them in the file.\n\n"
      "Example:\n"
      "  ferry gate init kernels");
  command.callback(
      [options, &chosen] { chosen = [options](const Compiler* compiler) { return write_suite(compiler, *options); }; });
}

}  // namespace ferry::cli
