#include "host/kernel/machine_text.h"

#include <algorithm>
#include <iterator>

#include "base/throw_status.h"
#include "ferry/error.h"
#include "module/module_file.h"

namespace ferry {

std::vector<MachineFunction> machine_functions(const Compiler& compiler, const CompiledModule& module) {
  const ModuleFile file = value_or_throw(read_module(module.bytes()));
  const Target target = compiler.resolve_target(file.manifest.target).value;
  std::vector<MachineFunction> functions;
  for (const CodeImage& image : file.images) {
    if (image.kind != ImageKind::elf && image.kind != ImageKind::elf_library) continue;
    // The CPU beside a GPU has code of its own.
    std::ranges::move(compiler.disassemble(image.bytes, target.host ? *target.host : target),
                      std::back_inserter(functions));
  }
  if (functions.empty()) throw UsageError("expected machine code of a CPU, got a module for " + file.manifest.target);
  return functions;
}

std::string assembly_text(const Compiler& compiler, const CompiledModule& module) {
  return code_text(machine_functions(compiler, module));
}

std::vector<HotLoop> hot_loops(const Compiler& compiler, const CompiledModule& module) {
  const std::vector<MachineFunction> functions = machine_functions(compiler, module);
  return hot_loops(functions, hottest_functions(functions, functions.size()));
}

}  // namespace ferry
