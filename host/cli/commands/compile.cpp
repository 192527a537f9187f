#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

#include "base/quantity_text.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/after_option.h"
#include "host/cli/options/compile_deadline.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/remote.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/cli/output/json.h"
#include "host/cli/output/progress.h"
#include "host/kernel/argument_spec.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/file.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelCommand kernel;
  RemoteOptions remote;
  std::string target;
  std::string output;
  std::string emit;
  std::string after;
  std::vector<std::string> sizes;
  bool json = false;
  bool verbose = false;
};

bool shows_gpu_code(const Options& options) {
  return options.emit == "cuda" || options.emit == "opencl" || options.emit == "ptx";
}

Target choose_target(const Compiler& compiler, const Options& options) {
  if (!options.target.empty()) return resolve_with_notes(compiler, options.target, terminal());
  // GPU code with loops for a CPU would run in one thread of one block.
  if (shows_gpu_code(options)) return compiler.resolve_target(options.emit == "opencl" ? "opencl" : "cuda").value;
  if (!options.remote.address.empty()) return compiler.target_of(open_device(options.remote).facts());
  return compiler.resolve_target("host").value;
}

// Returns the defs to compile: all, or the named one.
std::vector<lang::Program> chosen_programs(const KernelSource& source, const std::string& function) {
  if (source.programs.empty() || !function.empty()) return {choose_program(source, function)};
  return source.programs;
}

// Throws UsageError for a size that no program has.
SizesByName expected_sizes(const std::vector<lang::Program>& programs, const Options& options) {
  const SizesByName sizes = parse_sizes(options.sizes);
  std::vector<std::string> known;
  for (const lang::Program& program : programs)
    for (const ir::Expr& symbol : lang::symbols_of(program)) known.push_back(symbol.as<ir::Var>()->name);
  for (const auto& [name, size] : sizes)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError("--size " + name + ": expected a size of the kernel" +
                       (known.empty() ? ", which has none" : ": " + join(", ", known)));
  return sizes;
}

Stage stage_of(const std::string& name) {
  static const std::map<std::string, Stage> kStages = {
      {"schedule", Stage::schedule}, {"space", Stage::space}, {"lower", Stage::loops}, {"c", Stage::c},
      {"opencl", Stage::opencl},     {"cuda", Stage::cuda},   {"ptx", Stage::ptx},     {"llvm", Stage::llvm},
      {"asm", Stage::assembly},      {"obj", Stage::object}};
  return kStages.at(name);
}

// Returns the representation that --emit names.
Emission emitted(const std::vector<lang::Program>& programs, const KernelSource& source, const Target& target,
                 const Options& options) {
  const bool shows_machine_code = options.emit == "llvm" || options.emit == "asm" || options.emit == "obj";
  if (target.is_source && shows_machine_code)
    throw UsageError("--emit " + options.emit + " needs a target with machine code, got '" + target.text + "'");
  const Scheduled chosen = scheduled(source, programs, expected_sizes(programs, options));
  Emission emission = source.compiler->emit(stage_of(options.emit), {chosen, target, source.text}, options.after);
  tell_notes(emission.notes, terminal());
  return emission;
}

std::string output_name(const Options& options, const std::string& function, const std::string& extension) {
  if (!options.output.empty()) return options.output;
  const bool from_file = options.kernel.expression.empty() && options.kernel.file != "-";
  const std::string stem = from_file ? std::filesystem::path(options.kernel.file).stem().string() : function;
  return stem + extension;
}

CompiledModule compile_module(const std::vector<lang::Program>& programs, const KernelSource& source,
                              const Target& target, const Options& options) {
  const Progress progress("compiling");
  const Scheduled chosen = scheduled(source, programs, expected_sizes(programs, options));
  Compiled compiled = source.compiler->compile({chosen, target, source.text});
  tell_notes(compiled.notes, terminal());
  tell_notes(compiled.module_notes, terminal());
  return CompiledModule(std::move(compiled.module));
}

// For a kernel that ferry did not write there is only a module: intermediate representations are up to its own
// compiler.
CompiledModule compile_foreign(const KernelSource& source, const Target& target, const Options& options) {
  if (!options.emit.empty()) {
    throw UsageError("--emit " + options.emit + " shows how kernels in ferry's own notation are compiled: expected " +
                     "none for " + source.name);
  }
  if (!options.sizes.empty()) {
    throw UsageError("--size chooses a schedule, and " + source.name + " is computed as it says: expected none");
  }
  return compile_kernel(source, options.kernel.function, target, {}, terminal(options.kernel.deadline)).module;
}

int write_module(const CompiledModule& module, const Target& target, const Options& options) {
  const std::string name = output_name(options, module.manifest().functions.front().name, ".ferry");
  write_file(name, module.bytes().data(), module.bytes().size());
  if (name == "-") return kExitFine;
  if (options.json) {
    Json functions = Json::array();
    for (const FunctionInfo& function : module.manifest().functions) functions.push_back(signature_text(function));
    print_json({{"schema", "ferry.compile/1"},
                {"file", name},
                {"bytes", module.bytes().size()},
                {"hash", to_hex(module.hash())},
                {"target", target.text},
                {"functions", functions}});
    return kExitFine;
  }
  printf("%s: %s bytes for %s\n", name.c_str(), count_text(module.bytes().size()).c_str(),
         target_text(target.text, options.verbose).c_str());
  for (const FunctionInfo& function : module.manifest().functions) printf("  %s\n", signature_text(function).c_str());
  return kExitFine;
}

int compile_to_text(const std::vector<lang::Program>& programs, const KernelSource& source, const Target& target,
                    Options options) {
  options.emit = target.arch_name;
  const Emission emission = emitted(programs, source, target, options);
  const std::string& text = emission.text;
  const std::string name = output_name(options, programs.front().name, emission.extension);
  write_file(name, text.data(), text.size());
  if (name == "-") return kExitFine;
  if (options.json)
    print_json({{"schema", "ferry.compile/1"}, {"file", name}, {"bytes", text.size()}, {"target", target.text}});
  else
    printf("%s: %s bytes for %s\n", name.c_str(), count_text(text.size()).c_str(), target.text.c_str());
  return kExitFine;
}

int run_compile(const Compiler* given, const Options& options) {
  const Compiler& compiler = expect_compiler(given, "ferry compile");
  if (!options.after.empty() && options.emit != "lower") throw UsageError("--after needs --emit lower");
  if (options.json && options.output == "-") throw UsageError("expected --json or -o -: both write to standard output");
  const KernelSource source = read_kernel(&compiler, options.kernel, terminal());
  if (source.module) throw UsageError(source.name + " is compiled already; 'ferry inspect' shows it");
  if (source.foreign) {
    const Target target = choose_target(compiler, options);
    return write_module(compile_foreign(source, target, options), target, options);
  }
  if (options.emit == "space" && (source.schedule || source.unscheduled))
    throw UsageError("--emit space shows what default schedules choose from: expected no schedule");
  const std::vector<lang::Program> programs = chosen_programs(source, options.kernel.function);
  const Target target = choose_target(compiler, options);
  const CompileDeadline deadline(options.kernel.deadline, source.name);
  if (options.emit.empty()) {
    const bool to_module = target.is_gpu() && options.output.ends_with(".ferry");
    if (target.is_source && !to_module) return compile_to_text(programs, source, target, options);
    return write_module(compile_module(programs, source, target, options), target, options);
  }
  const Emission emission = emitted(programs, source, target, options);
  const std::string& text = emission.text;
  if (options.json && options.emit != "obj") {
    Json json = {{"schema", "ferry.emit/1"}, {"stage", options.emit}, {"target", target.text}};
    if (!options.after.empty()) json["after"] = options.after;
    if (emission.json.empty())
      json["text"] = text;
    else
      json["functions"] = Json::parse(emission.json);
    print_json(json);
  } else if (options.emit == "obj") {
    write_file(output_name(options, programs.front().name, emission.extension), text.data(), text.size());
  } else if (!options.output.empty() && options.output != "-") {
    write_file(options.output, text.data(), text.size());
  } else {
    fwrite(text.data(), 1, text.size(), stdout);
    if (!text.ends_with('\n')) putchar('\n');
  }
  return kExitFine;
}

}  // namespace

void add_compile(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("compile", "Compile a kernel to a .ferry module, or show a stage on the way");
  add_kernel_options(command, options->kernel, "The kernel: K.tc, K.c, K.cpp, K.ll, K.o, or '-' for stdin");
  add_foreign_options(command, options->kernel);
  add_target_option(command, options->target);
  add_remote_option(command, options->remote, "Compile for what this rpc_server says its device is");
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
      .add_option("--emit", options->emit,
                  "Instead of a module: schedule, space (what it was chosen from), lower (the loops), c, opencl, cuda, "
                  "ptx, llvm or asm on stdout, or obj, an object file")
      ->type_name("STAGE")
      ->check(one_of({"schedule", "space", "lower", "c", "opencl", "cuda", "ptx", "llvm", "asm", "obj"}));
  add_after_option(command, options->after, "With --emit lower: the loops after this pass");
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
      "  ferry compile --emit lower -e 'def twice(float(N) A) -> (B) { B(i) = 2 * A(i) }'");
  command.callback(
      [options, &chosen] { chosen = [options](const Compiler* compiler) { return run_compile(compiler, *options); }; });
}

}  // namespace ferry::cli
