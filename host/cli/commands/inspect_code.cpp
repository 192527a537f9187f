#include "host/cli/commands/inspect_code.h"

#include <cstdio>

#include "host/cli/options/exit_code.h"
#include "host/cli/options/terminal.h"
#include "host/kernel/emit_text.h"
#include "host/kernel/machine_text.h"
#include "host/text/json.h"

namespace ferry::cli {

namespace {

CompiledModule module_of(const Compiler& compiler, const CodeOptions& options) {
  const Observer observer = terminal();
  const KernelSource source = read_kernel(&compiler, options.kernel, observer);
  if (const ModuleKernel* compiled = source.as_module()) {
    if (!options.target.empty())
      throw OptionError(Option::target,
                        options.target + ": expected none, because " + source.name + " is compiled already");
    return compiled->module;
  }
  const Target target = resolve_with_notes(compiler, options.target.empty() ? "host" : options.target, observer);
  return compile_text(source, {options.kernel.function, options.sizes}, target, observer);
}

}  // namespace

std::string hot_code_text(const Compiler& compiler, const CompiledModule& module) {
  std::string text;
  for (const HotLoop& loop : hot_loops(compiler, module)) text += loop.titled();
  return text.empty() ? assembly_text(compiler, module) : text;
}

int inspect_code(const Compiler& compiler, const CodeOptions& options) {
  const CompiledModule module = module_of(compiler, options);
  if (!options.json) {
    fputs(hot_code_text(compiler, module).c_str(), stdout);
    return kExitFine;
  }
  text::Json loops = text::Json::array();
  for (const HotLoop& loop : hot_loops(compiler, module))
    loops.push_back({{"function", loop.function}, {"instructions", loop.instructions}, {"text", loop.text}});
  text::print_json({{"schema", "ferry.inspect.asm/1"},
                    {"file", options.kernel.file},
                    {"target", module.manifest().target},
                    {"loops", loops}});
  return kExitFine;
}

}  // namespace ferry::cli
