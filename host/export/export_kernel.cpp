#include "host/export/export_kernel.h"

#include <filesystem>

#include "ferry/kernel/option_error.h"
#include "host/export/run_init_plan.h"
#include "host/kernel/argument_spec.h"
#include "host/kernel/emit_text.h"
#include "host/kernel/file.h"

namespace ferry {
namespace {

// Linux grants AMX's tile registers to processes that ask for them, which programs of C need not know.
Target without_tiles(Target target) {
  target.capabilities.amx_int8 = target.capabilities.amx_bf16 = false;
  return target;
}

}  // namespace

std::vector<ExportedFile> export_kernel(const KernelSource& source, const Target& target, const ExportOptions& options,
                                        const Observer& observer) {
  const Compiler& compiler = expect_compiler(source.compiler, "ferry export");
  if (source.as_module())
    throw UsageError(source.name + ": expected a kernel's source or a network to export, got compiled code");
  if (source.as_foreign())
    throw UsageError(source.name +
                     ": expected a kernel in ferry's own notation or a network to export; a C program can link this "
                     "one as it is");
  if (!target.is_for_cpu() || target.is_source)
    throw OptionError(Option::target, "'" + target.text + "': expected a CPU, whose code C programs can link");
  // A text may have several functions, and one is exported.
  const std::string function = source.as_network() ? options.function : choose_program(source, options.function).name;
  CompiledModule module =
      compile_text(source, {function, options.sizes, CodeForm::relocatable}, without_tiles(target), observer);
  if (has_init_modules(module)) {
    const StepGuard step = observer.begin("packing weights");
    ConnectOptions connection;
    connection.source_line = source_line_of(source.compiler);
    module = run_init_plan(module, local_device(connection));
  }
  return compiler.export_code({module.bytes(), module.blobs(), target, options.name, options.form, options.weights_file,
                               parse_sizes(options.sizes)});
}

void write_files(const std::string& folder, const std::vector<ExportedFile>& files) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw UsageError("cannot make the folder '" + folder + "': " + failed.message());
  for (const ExportedFile& file : files)
    write_file((std::filesystem::path(folder) / file.name).string(), file.bytes.data(), file.bytes.size());
}

}  // namespace ferry
