#include "host/gate/diff/diff_modules.h"

#include <algorithm>

#include "base/throw_status.h"
#include "ferry/error.h"
#include "host/gate/diff/diff_networks.h"
#include "host/gate/diff/diff_text.h"
#include "host/gate/diff/gpu_kernels.h"
#include "host/kernel/compile_kernel.h"
#include "host/kernel/hot_code.h"
#include "host/kernel/kernel.h"
#include "module/module_file.h"

namespace ferry::gate {

namespace {

constexpr std::size_t kMostHotFunctions = 3;

struct OpenModule {
  const char* name;  // for messages and diffs
  ModuleFile file;
  KernelSource source;  // with the module
};

OpenModule open_module(const Compiler& compiler, const char* name, std::span<const std::uint8_t> bytes) {
  CompiledModule compiled(Bytes(bytes.begin(), bytes.end()));
  // Without the contents of blobs, which may follow.
  OpenModule module{name, value_or_throw(read_module(compiled.bytes())), {}};
  module.source.compiler = &compiler;
  module.source.name = name;
  module.source.text = module.file.source;
  module.source.kind = ModuleKernel{std::move(compiled)};
  return module;
}

std::string loops_of(const Compiler& compiler, const OpenModule& module) {
  std::vector<lang::Program> programs;
  for (const FunctionInfo& function : module.file.manifest.functions) {
    programs.push_back(program_of(module.source, function.name));
  }
  const Target target = compiler.resolve_target(module.file.manifest.target).value;
  Scheduled scheduled{programs, ScheduleText{module.file.schedule}};
  return compiler.emit(Stage::loops, {scheduled, target}).text;
}

void diff_loops(const Compiler& compiler, const PerSide<OpenModule>& sides, Noted<ModuleDiff>& result) {
  if (!has_definition(sides[Side::baseline].source) || !has_definition(sides[Side::current].source)) return;
  PerSide<std::string> texts;
  for (const Side side : kSides) {
    try {
      texts[side] = loops_of(compiler, sides[side]);
    } catch (const Error& error) {
      result.notes.push_back(std::string("the loops of the ") + sides[side].name + " cannot be shown: " + error.what());
      return;
    }
  }
  result.value.loops = diff_of(texts[Side::baseline], texts[Side::current]);
}

const CodeImage* counterpart(const CodeImage& image, const ModuleFile& other) {
  const auto found = std::ranges::find_if(
      other.images, [&](const CodeImage& one) { return one.name() == image.name() && one.device == image.device; });
  return found == other.images.end() ? nullptr : &*found;
}

std::string machine_code_diff(const Compiler& compiler, const PerSide<OpenModule>& sides,
                              const PerSide<const CodeImage*>& images) {
  PerSide<std::vector<MachineFunction>> functions;
  std::vector<std::string> names;
  for (const Side side : kSides) {
    const Target target = compiler.resolve_target(sides[side].file.manifest.target).value;
    // The CPU beside a GPU has code of its own.
    functions[side] = compiler.disassemble(images[side]->bytes, target.host ? *target.host : target);
    for (std::string& name : hottest_functions(functions[side], kMostHotFunctions)) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  }
  const std::string hot =
      diff_of(hot_text(functions[Side::baseline], names), hot_text(functions[Side::current], names));
  return hot.empty() ? diff_of(code_text(functions[Side::baseline]), code_text(functions[Side::current])) : hot;
}

void diff_assembly(const Compiler& compiler, const PerSide<OpenModule>& sides, Noted<ModuleDiff>& result) {
  for (const CodeImage& baseline : sides[Side::baseline].file.images) {
    const CodeImage* current = counterpart(baseline, sides[Side::current].file);
    if (current == nullptr || current->bytes == baseline.bytes) continue;
    try {
      if (is_text(baseline)) {
        result.value.assembly += diff_of(text_of(baseline), text_of(*current));
      } else if (baseline.kind == ImageKind::elf) {
        result.value.assembly += machine_code_diff(compiler, sides, {&baseline, current});
      }
    } catch (const Error& error) {
      result.notes.push_back(std::string("the assembly cannot be shown: ") + error.what());
    }
  }
}

NetworkSide network_side(const Compiler& compiler, const OpenModule& module, std::vector<std::string>& notes) {
  NetworkSide side{module.file, {}};
  for (const CodeImage& image : module.file.images) {
    if (image.kind != ImageKind::elf) continue;
    try {
      const Target target = compiler.resolve_target(module.file.manifest.target).value;
      for (MachineFunction& function : compiler.disassemble(image.bytes, target.host ? *target.host : target))
        side.functions.push_back(std::move(function));
    } catch (const Error& error) {
      notes.push_back(std::string("the assembly of the ") + module.name + " cannot be shown: " + error.what());
    }
  }
  return side;
}

void diff_operators(const Compiler& compiler, const PerSide<OpenModule>& sides, Noted<ModuleDiff>& result) {
  NetworkDiff diff = diff_networks(network_side(compiler, sides[Side::baseline], result.notes),
                                   network_side(compiler, sides[Side::current], result.notes));
  result.value.operators = std::move(diff.operators);
  result.value.schedule = std::move(diff.schedule);
  result.value.assembly = std::move(diff.assembly);
}

}  // namespace

Noted<ModuleDiff> diff_modules(const Compiler& compiler, std::span<const std::uint8_t> baseline,
                               std::span<const std::uint8_t> current) {
  const PerSide<OpenModule> sides = {open_module(compiler, "baseline", baseline),
                                     open_module(compiler, "current", current)};
  Noted<ModuleDiff> result;
  if (is_network_module(sides[Side::baseline].file) && is_network_module(sides[Side::current].file)) {
    diff_operators(compiler, sides, result);
    return result;
  }
  result.value.source = diff_of(sides[Side::baseline].file.source, sides[Side::current].file.source);
  result.value.schedule = diff_of(sides[Side::baseline].file.schedule, sides[Side::current].file.schedule);
  diff_loops(compiler, sides, result);
  diff_assembly(compiler, sides, result);
  return result;
}

}  // namespace ferry::gate
