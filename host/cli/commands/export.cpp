#include <cstdio>
#include <string>

#include "base/quantity_text.h"
#include "host/cli/commands/command.h"
#include "host/cli/options/json_option.h"
#include "host/cli/options/kernel_options.h"
#include "host/cli/options/option_checks.h"
#include "host/cli/options/target_option.h"
#include "host/cli/options/terminal.h"
#include "host/export/export_kernel.h"
#include "host/kernel/compile_kernel.h"
#include "host/text/json.h"

namespace ferry::cli {

namespace {

struct Options {
  KernelCommand kernel;
  RecordsOption records;
  std::string target;
  std::string folder;
  ExportOptions exported;
  bool archive = false;
  bool shared = false;
  bool json = false;
  bool verbose = false;
};

int run_export(const Compiler* given, Options options) {
  const Compiler& compiler = expect_compiler(given, "ferry export");
  const Observer observer = terminal(options.kernel.deadline);
  KernelSource source = read_kernel(&compiler, options.kernel, observer);
  use_records(options.records, source);
  const Target target = resolve_with_notes(compiler, options.target.empty() ? "host" : options.target, observer);
  options.exported.function = options.kernel.function;
  if (options.archive) options.exported.form = ExportForm::archive;
  if (options.shared) options.exported.form = ExportForm::shared;
  const std::vector<ExportedFile> files = export_kernel(source, target, options.exported, observer);
  write_files(options.folder, files);
  if (options.json) {
    text::Json written = text::Json::array();
    for (const ExportedFile& file : files) written.push_back({{"name", file.name}, {"bytes", file.bytes.size()}});
    text::print_json(
        {{"schema", "ferry.export/1"}, {"folder", options.folder}, {"target", target.text}, {"files", written}});
    return kExitFine;
  }
  printf("%s: for %s\n", options.folder.c_str(), target_text(target.text, options.verbose).c_str());
  for (const ExportedFile& file : files)
    printf("  %s: %s bytes\n", file.name.c_str(), count_text(file.bytes.size()).c_str());
  return kExitFine;
}

}  // namespace

void add_export(CLI::App& app, Action& chosen, ReadRecords read_records) {
  auto options = std::make_shared<Options>();
  CLI::App& command = *app.add_subcommand("export", "Compile a kernel or a network to an object that C programs link");
  add_kernel_options(command, options->kernel, "The kernel: K.tc, a network NET.onnx, or '-' for stdin");
  add_records_option(command, options->records, read_records, DefaultRecords::none);
  command
      .add_option("--target", options->target, "The CPU to compile for (default: this machine); see 'ferry targets'")
      ->type_name("TARGET")
      ->check(some_text("a target"));
  command
      .add_option("--size", options->exported.sizes,
                  "Sizes to choose the default schedule by, as M=512,N=512, and of the example; it is right at any")
      ->type_name("NAME=SIZE")
      ->type_size(1)
      ->allow_extra_args(false);
  command.add_option("-o,--output", options->folder, "The folder to write into, which is made if there is none")
      ->type_name("FOLDER")
      ->required();
  command
      .add_option("--name", options->exported.name,
                  "The name of the files, and with which the C functions begin (default: the function's)")
      ->type_name("NAME")
      ->check(some_text("a name"));
  CLI::Option* archive =
      command.add_flag("--archive", options->archive, "A static library libNAME.a in place of objects");
  CLI::Option* shared =
      command.add_flag("--shared", options->shared, "A shared library libNAME.so in place of objects");
  archive->excludes(shared);
  command.add_flag("--weights", options->exported.weights_file,
                   "Write a network's weights to NAME.weights, for the program to read or map");
  add_json_option(command, options->json);
  add_verbose_option(command, options->verbose);
  command.footer(
      "The folder contains NAME.h, NAME.o, NAME_threads.o for calls on several threads, and an example: main.c with a\n"
      "Makefile. docs/export.md describes the functions.\n\n"
      "Examples:\n"
      "  ferry export mm.tc -o mm && make -C mm run\n"
      "  ferry export mm.tc --target raspberry-pi-4 --size M=512,N=512,K=512 -o mm\n"
      "  ferry export net.onnx --fix N=1 --archive -o net");
  command.callback(
      [options, &chosen] { chosen = [options](const Compiler* compiler) { return run_export(compiler, *options); }; });
}

}  // namespace ferry::cli
