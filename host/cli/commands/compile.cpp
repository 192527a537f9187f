#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "base/quantity_text.h"
#include "ferry/kernel/option_error.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/after_option.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/kernel/emit_text.h"
#include "host/kernel/file.h"
#include "host/text/json.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelCommand kernel;
  RecordsOption records;
  RemoteOptions remote;
  std::string target;
  std::string output;
  std::optional<Stage> emit;
  std::string after;
  std::vector<std::string> sizes;
  bool json = false;
  bool verbose = false;
};

Target choose_target(const Compiler& compiler, const Options& options, const KernelSource& source) {
  if (!options.target.empty()) return resolve_with_notes(compiler, options.target, terminal());
  const std::string of_stage = options.emit ? target_of_stage(*options.emit) : "";
  if (!of_stage.empty()) return compiler.resolve_target(of_stage).value;
  if (!options.remote.address.empty()) return target_for(open_device(options.remote), "", source);
  return compiler.resolve_target(is_cuda_source(options.kernel.file) ? "cuda" : "host").value;
}

std::string output_name(const Options& options, const std::string& function, const std::string& extension) {
  if (!options.output.empty()) return options.output;
  const bool from_file = options.kernel.expression.empty() && options.kernel.file != "-";
  const std::string stem = from_file ? std::filesystem::path(options.kernel.file).stem().string() : function;
  return stem + extension;
}

int write_compiled(const CompiledModule& module, const Target& target, const Options& options) {
  const std::string name = output_name(options, module.manifest().functions.front().name, ".ferry");
  write_module(name, module);
  if (name == "-") return kExitFine;
  std::uint64_t weights = 0;
  for (const Blob& blob : module.manifest().blobs) weights += blob.bytes;
  if (options.json) {
    text::Json functions = text::Json::array();
    for (const FunctionInfo& function : module.manifest().functions) functions.push_back(signature_text(function));
    text::print_json({{"schema", "ferry.compile/1"},
                      {"file", name},
                      {"bytes", module.bytes().size()},
                      {"blob_bytes", weights},
                      {"hash", to_hex(module.hash())},
                      {"target", target.text},
                      {"functions", functions}});
    return kExitFine;
  }
  printf("%s: %s bytes%s for %s\n", name.c_str(), count_text(module.bytes().size()).c_str(),
         weights == 0 ? "" : (" and " + count_text(weights) + " of weights").c_str(),
         target_text(target.text, options.verbose).c_str());
  for (const FunctionInfo& function : module.manifest().functions) printf("  %s\n", signature_text(function).c_str());
  return kExitFine;
}

// Returns the name of the function, or of the first one.
std::string chosen_function(const KernelSource& source, const Options& options) {
  return options.kernel.function.empty() ? source.as_text()->programs.front().name : options.kernel.function;
}

int write_text(const Emission& emission, const Target& target, const std::string& name, const Options& options) {
  const std::string& text = emission.text;
  write_file(name, text.data(), text.size());
  if (name == "-") return kExitFine;
  if (options.json)
    text::print_json({{"schema", "ferry.compile/1"}, {"file", name}, {"bytes", text.size()}, {"target", target.text}});
  else
    printf("%s: %s bytes for %s\n", name.c_str(), count_text(text.size()).c_str(), target.text.c_str());
  return kExitFine;
}

text::Json to_json(const Emission& emission, const Target& target, const Options& options) {
  text::Json json = {{"schema", "ferry.emit/1"}, {"stage", stage_name(*options.emit)}, {"target", target.text}};
  if (!options.after.empty()) json["after"] = options.after;
  if (emission.json.empty())
    json["text"] = emission.text;
  else
    json["functions"] = text::Json::parse(emission.json);
  return json;
}

int show_stage(const KernelSource& source, const TextRequest& request, const Target& target, const Options& options) {
  const Emission emission =
      emit_text(source, request, *options.emit, target, options.after, terminal(options.kernel.deadline));
  const std::string& text = emission.text;
  if (*options.emit == Stage::object) {
    write_file(output_name(options, chosen_function(source, options), emission.extension), text.data(), text.size());
  } else if (options.json) {
    text::print_json(to_json(emission, target, options));
  } else if (!options.output.empty() && options.output != "-") {
    write_file(options.output, text.data(), text.size());
  } else {
    fwrite(text.data(), 1, text.size(), stdout);
    if (!text.ends_with('\n')) putchar('\n');
  }
  return kExitFine;
}

// Returns whether a module can carry the target's code: a device's driver compiles source code, and a CPU has none.
bool takes_modules(const Target& target) { return !target.is_source || target.device.kind != DeviceKind::cpu; }

int run_compile(const Compiler* given, const Options& options) {
  const Compiler& compiler = expect_compiler(given, "ferry compile");
  if (!options.after.empty() && options.emit != Stage::loops && options.emit != Stage::graph)
    throw UsageError("--after needs --emit lower, or --emit graph of a network");
  if (options.json && options.output == "-") throw UsageError("expected --json or -o -: both write to standard output");
  if (!options.output.empty()) expect_writable(options.output);
  const Observer observer = terminal(options.kernel.deadline);
  KernelSource source = read_kernel(&compiler, options.kernel, observer);
  use_records(options.records, source);
  const TextRequest request{options.kernel.function, options.sizes};
  const Target target = choose_target(compiler, options, source);
  if (options.emit) return show_stage(source, request, target, options);
  if (source.as_network() && !takes_modules(target))
    throw OptionError(Option::target, target.text + ": expected a target that modules are made for, because " +
                                          source.name + " is a network: --emit " + target.arch_name +
                                          " shows the code of its kernels, and 'ferry export' writes a library for C "
                                          "programs");
  const bool to_module = !source.as_text() || (takes_modules(target) && options.output.ends_with(".ferry"));
  if (target.is_source && !to_module) {
    const Emission emission = emit_text(source, request, stage_named(target.arch_name).value(), target, "", observer);
    return write_text(emission, target, output_name(options, chosen_function(source, options), emission.extension),
                      options);
  }
  return write_compiled(compile_text(source, request, target, observer), target, options);
}

}  // namespace

void add_compile(CLI::App& app, Action& chosen, const session::Schemes& schemes, ReadRecords read_records) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("compile", "Compile a kernel to a .ferry module, or show a stage on the way");
  add_kernel_options(command, options->kernel,
                     "The kernel: K.tc, K.c, K.cpp, K.cu, K.ll, K.o, a network NET.onnx, or '-' for stdin");
  add_foreign_options(command, options->kernel);
  add_records_option(command, options->records, read_records);
  add_target_option(command, options->target);
  add_remote_option(command, options->remote, schemes, "Compile for what this rpc_server says its device is");
  command
      .add_option("--size", options->sizes,
                  "Sizes to choose the default schedule by, as M=512,N=512; it is right at any")
      ->type_name("NAME=SIZE")
      ->type_size(1)
      ->allow_extra_args(false);
  command
      .add_option("-o,--output", options->output,
                  "The file to write, '-' for standard output (default: the kernel's name with .ferry)")
      ->type_name("FILE");
  command
      .add_option_function<std::string>(
          "--emit", [options](const std::string& name) { options->emit = stage_named(name); },
          "Instead of a module: schedule, space (what it was chosen from), point (what was chosen there), lower (the "
          "loops), c, opencl, cuda, "
          "ptx, llvm or asm on stdout, or obj, an object file; for a network also graph, groups (the nodes of each "
          "kernel) or plan, and the others for each of its kernels; for a kernel in another language asm")
      ->type_name("STAGE")
      ->check(one_of(stage_names()));
  add_after_option(command, options->after,
                   "With --emit lower: the loops after this pass; with --emit graph: the network");
  add_json_option(command, options->json);
  add_verbose_option(command, options->verbose);
  command.footer(
      "Without --target, it is what --remote says it is, or this machine.\n\n"
      "Examples:\n"
      "  ferry compile mm.tc --target raspberry-pi-4 -o mm.ferry\n"
      "  ferry compile mm.tc --target 'llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a72' --emit asm\n"
      "  ferry compile saxpy.c --signature 'saxpy(f32 a, in f32[n] x, inout f32[n] y)' --remote pi\n"
      "  ferry compile mm.tc --target c -o mm.c                plain C11, for any compiler\n"
      "  ferry compile mm.tc --emit schedule > mm.schedule     what ferry decided, to start from\n"
      "  ferry compile mm.tc --schedule mm.schedule --knob rows=8 --emit lower\n"
      "  ferry compile mm.tc --size M=512,N=512,K=512 --point 'C: tile=4x2, order=rows_outside'\n"
      "  ferry compile --emit lower -e 'def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }'");
  command.callback(
      [options, &chosen] { chosen = [options](const Compiler* compiler) { return run_compile(compiler, *options); }; });
}

}  // namespace ferry::cli
