#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/quantity_text.h"
#include "crosscompile/compile.h"
#include "crosscompile/make_backend.h"
#include "crosscompile/passes/gpu/map_threads.h"
#include "crosscompile/target/resolve.h"
#include "ferry/schedule/module_schedule.h"
#include "host/cli/commands/command.h"
#include "host/cli/commands/loops.h"
#include "host/cli/commands/space.h"
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
#include "host/lower/lower.h"
#include "module/module_file.h"

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

Target choose_target(const Options& options) {
  if (!options.target.empty()) return resolve_with_notes(options.target, terminal());
  // GPU code with loops for a CPU would run in one thread of one block.
  if (shows_gpu_code(options)) return resolve_target(options.emit == "opencl" ? "opencl" : "cuda");
  if (!options.remote.address.empty()) return target_of(open_device(options.remote));
  return resolve_target("host");
}

// Returns the defs to compile: all, or the named one.
std::vector<lang::Program> chosen_programs(const KernelSource& source, const std::string& function) {
  if (source.programs.empty() || !function.empty()) return {choose_program(source, function)};
  return source.programs;
}

// Throws UsageError for a size that no program has.
autoschedule::Sizes expected_sizes(const std::vector<lang::Program>& programs, const Options& options) {
  const autoschedule::Sizes sizes = parse_sizes(options.sizes);
  std::vector<std::string> known;
  for (const lang::Program& program : programs)
    for (const ir::Expr& symbol : lang::symbols_of(program)) known.push_back(symbol.as<ir::Var>()->name);
  for (const auto& [name, size] : sizes)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw UsageError("--size " + name + ": expected a size of the kernel" +
                       (known.empty() ? ", which has none" : ": " + join(", ", known)));
  return sizes;
}

// Returns the target of the printed text, or, in the hints for schedules, a similar one.
Target source_target(const std::string& language, const Target& target) {
  if (target.arch_name == language) return target;
  return language == "c" ? c_target_like(target) : resolve_target(language);
}

void note_unbound(const std::vector<ir::Function>& lowered, const Options& options) {
  if (!shows_gpu_code(options)) return;
  for (const ir::Function& function : lowered) {
    if (passes::has_gpu_loops(function.body)) continue;
    fprintf(stderr,
            "ferry: note: %s: nothing is bound to blocks or threads, so one thread of one block computes all of it\n",
            function.name.c_str());
  }
}

// Returns the form of the text that --emit names, which is none of the stages before the passes.
TextForm form_of(const std::string& stage) {
  if (stage == "ptx") return TextForm::ptx;
  if (stage == "llvm") return TextForm::llvm;
  if (stage == "asm") return TextForm::assembly;
  return TextForm::source;
}

// Returns the representation that --emit names.
std::string emitted(const std::vector<lang::Program>& programs, const KernelSource& source, const Target& target,
                    const Options& options) {
  const std::vector<schedule::Schedule> schedules =
      schedules_of(source, programs, target, terminal(), expected_sizes(programs, options));
  if (options.emit == "schedule") return autoschedule::to_text(programs, schedules);
  if (options.emit == "space") return space_text(spaces_of(programs, target, expected_sizes(programs, options)));
  if (options.emit == "lower") return loops_text(programs, schedules, target, options.after);
  const std::vector<ir::Function> lowered = lower::lower_module(programs, schedules);
  note_unbound(lowered, options);
  const TextForm form = options.emit == "obj" ? TextForm::assembly : form_of(options.emit);
  const std::unique_ptr<Backend> backend = make_backend(form == TextForm::source ? source_target(options.emit, target)
                                                        : form == TextForm::ptx  ? source_target("cuda", target)
                                                                                 : target);
  if (!backend->has_text(form))
    throw UsageError("--emit " + options.emit + " needs a target with machine code, got '" + target.text + "'");
  if (options.emit != "obj") return backend->text(form, lowered);
  const std::vector<std::uint8_t> object =
      compile_object(lowered, target, {source.text, autoschedule::to_text(programs, schedules)});
  return {object.begin(), object.end()};
}

std::string output_name(const Options& options, const std::string& function, const char* extension) {
  if (!options.output.empty()) return options.output;
  const bool from_file = options.kernel.expression.empty() && options.kernel.file != "-";
  const std::string stem = from_file ? std::filesystem::path(options.kernel.file).stem().string() : function;
  return stem + extension;
}

CompiledModule compile_module(const std::vector<lang::Program>& programs, const KernelSource& source,
                              const Target& target, const Options& options) {
  const Progress progress("compiling");
  const auto schedules = schedules_of(source, programs, target, terminal(), expected_sizes(programs, options));
  return compile(programs, schedules, target, source.text);
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

void print_notes(const CompiledModule& module, const Target& target) {
  const Result<ModuleFile> file = read_module(module.bytes());
  if (!file.is_ok()) return;
  for (const std::string& note : make_backend(target)->notes(file.value().images))
    fprintf(stderr, "ferry: note: %s\n", note.c_str());
}

int write_module(const CompiledModule& module, const Target& target, const Options& options) {
  print_notes(module, target);
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
  const std::string text = emitted(programs, source, target, options);
  const std::string name = output_name(options, programs.front().name, make_backend(target)->source_extension());
  write_file(name, text.data(), text.size());
  if (name == "-") return kExitFine;
  if (options.json)
    print_json({{"schema", "ferry.compile/1"}, {"file", name}, {"bytes", text.size()}, {"target", target.text}});
  else
    printf("%s: %s bytes for %s\n", name.c_str(), count_text(text.size()).c_str(), target.text.c_str());
  return kExitFine;
}

int run_compile(const Options& options) {
  if (!options.after.empty() && options.emit != "lower") throw UsageError("--after needs --emit lower");
  if (!options.after.empty()) expect_pass(options.after);
  if (options.json && options.output == "-") throw UsageError("expected --json or -o -: both write to standard output");
  const KernelSource source = read_kernel(options.kernel, terminal());
  if (source.module) throw UsageError(source.name + " is compiled already; 'ferry inspect' shows it");
  if (source.foreign) {
    const Target target = choose_target(options);
    return write_module(compile_foreign(source, target, options), target, options);
  }
  if (options.emit == "space" && (source.schedule || source.unscheduled))
    throw UsageError("--emit space shows what default schedules choose from: expected no schedule");
  const std::vector<lang::Program> programs = chosen_programs(source, options.kernel.function);
  const Target target = choose_target(options);
  const CompileDeadline deadline(options.kernel.deadline, source.name);
  if (options.emit.empty()) {
    const bool to_module = target.is_gpu() && options.output.ends_with(".ferry");
    if (target.is_source && !to_module) return compile_to_text(programs, source, target, options);
    return write_module(compile_module(programs, source, target, options), target, options);
  }
  const std::string text = emitted(programs, source, target, options);
  if (options.json && options.emit != "obj") {
    Json json = {{"schema", "ferry.emit/1"}, {"stage", options.emit}, {"target", target.text}};
    if (!options.after.empty()) json["after"] = options.after;
    if (options.emit == "space")
      json["functions"] = space_json(spaces_of(programs, target, expected_sizes(programs, options)));
    else
      json["text"] = text;
    print_json(json);
  } else if (options.emit == "obj") {
    write_file(output_name(options, programs.front().name, ".o"), text.data(), text.size());
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
  command.callback([options, &chosen] { chosen = [options] { return run_compile(*options); }; });
}

}  // namespace ferry::cli
