#include "host/kernel/emit_text.h"

#include <algorithm>

#include "base/quantity_text.h"
#include "base/throw_status.h"
#include "ferry/kernel/option_error.h"
#include "host/kernel/argument_spec.h"
#include "host/kernel/machine_text.h"
#include "host/kernel/notes.h"
#include "module/module_file.h"

namespace ferry {

namespace {

// Returns the defs to compile: all, or the named one.
std::vector<lang::Program> chosen_programs(const KernelSource& source, const std::string& function) {
  const TextKernel* text = source.as_text();
  if (text == nullptr || text->programs.empty() || !function.empty()) return {choose_program(source, function)};
  return text->programs;
}

// Returns the sizes, which must be among the known ones.
SizesByName expected_sizes(const std::vector<std::string>& known, const std::vector<std::string>& texts) {
  const SizesByName sizes = parse_sizes(texts);
  for (const auto& [name, size] : sizes)
    if (std::ranges::find(known, name) == known.end())
      throw OptionError(Option::size, name + ": expected a size of the kernel" +
                                          (known.empty() ? ", which has none" : ": " + join(", ", known)));
  return sizes;
}

SizesByName expected_sizes(const std::vector<lang::Program>& programs, const std::vector<std::string>& texts) {
  std::vector<std::string> known;
  for (const lang::Program& program : programs)
    for (const ir::Expr& symbol : lang::symbols_of(program)) known.push_back(symbol.as<ir::Var>()->name);
  return expected_sizes(known, texts);
}

bool is_machine_code(Stage stage) {
  switch (stage) {
    case Stage::llvm:
    case Stage::assembly:
    case Stage::object: return true;
    case Stage::graph:
    case Stage::groups:
    case Stage::schedule:
    case Stage::space:
    case Stage::point:
    case Stage::loops:
    case Stage::plan:
    case Stage::c:
    case Stage::opencl:
    case Stage::cuda:
    case Stage::ptx: return false;
  }
  return false;
}

bool is_of_points(Stage stage) { return stage == Stage::space || stage == Stage::point; }

bool is_of_networks(Stage stage) { return stage == Stage::graph || stage == Stage::groups || stage == Stage::plan; }

Emission emit_network(const KernelSource& source, const Network& network, const TextRequest& request, Stage stage,
                      const Target& target, const std::string& after, const Observer& observer) {
  if (is_of_points(stage) || stage == Stage::object)
    throw OptionError(Option::stage, std::string(stage_name(stage)) +
                                         ": expected one of the other stages, which are shown of each kernel of the "
                                         "network " +
                                         source.name);
  if (target.is_source && is_machine_code(stage))
    throw OptionError(Option::stage, std::string(stage_name(stage)) + ": expected a target with machine code, got '" +
                                         target.text + "'");
  const SizesByName sizes = expected_sizes(network.function().symbols, request.sizes);
  const StepGuard compilation = observer.begin_compilation(source.name);
  Emission emission = network.emit(stage, {target, sizes, CodeForm::linked, source.tuned.get()}, after);
  report_notes(emission.notes, observer);
  return emission;
}

// Returns the PTX in a module for GPUs.
std::string ptx_text(const CompiledModule& module, const std::string& name) {
  for (const CodeImage& image : value_or_throw(read_module(module.bytes())).images)
    if (image.kind == ImageKind::ptx) return {image.bytes.begin(), image.bytes.end()};
  throw OptionError(Option::stage,
                    "ptx: expected a target without -compiler=nvrtc for " + name + ", which has cubins alone with it");
}

void expect_text(const KernelSource& source) {
  if (source.as_module())
    throw UsageError(source.name + " is compiled already; 'ferry inspect' shows it, with --asm its code");
}

}  // namespace

const char* stage_name(Stage stage) {
  switch (stage) {
#define FERRY_CASE(stage, name) \
  case Stage::stage: return name;
    FERRY_STAGES(FERRY_CASE)
#undef FERRY_CASE
  }
  return "";
}

std::optional<Stage> stage_named(std::string_view name) {
#define FERRY_COMPARE(stage, text) \
  if (name == text) return Stage::stage;
  FERRY_STAGES(FERRY_COMPARE)
#undef FERRY_COMPARE
  return std::nullopt;
}

std::vector<std::string> stage_names() {
  return {
#define FERRY_NAME(stage, name) name,
      FERRY_STAGES(FERRY_NAME)
#undef FERRY_NAME
  };
}

std::string target_of_stage(Stage stage) {
  switch (stage) {
    case Stage::opencl: return "opencl";
    case Stage::cuda:
    case Stage::ptx: return "cuda";
    case Stage::graph:
    case Stage::groups:
    case Stage::schedule:
    case Stage::space:
    case Stage::point:
    case Stage::loops:
    case Stage::plan:
    case Stage::c:
    case Stage::llvm:
    case Stage::assembly:
    case Stage::object: return "";
  }
  return "";
}

CompiledModule compile_text(const KernelSource& source, const TextRequest& request, const Target& target,
                            const Observer& observer) {
  expect_text(source);
  if (source.as_foreign()) {
    if (!request.sizes.empty())
      throw OptionError(Option::size, request.sizes.front() +
                                          ": expected none, because a size chooses a schedule, and " + source.name +
                                          " is computed as it says");
    return compile_kernel(source, request.function, target, {}, observer).module;
  }
  if (const NetworkKernel* kernel = source.as_network()) {
    CallOptions call;
    call.sizes = request.sizes;
    expected_sizes(kernel->network->function().symbols, request.sizes);
    CompiledKernel compiled = compile_kernel(source, request.function, target, call, observer, request.form);
    report_notes(compiled.module_notes, observer);
    return std::move(compiled.module);
  }
  const std::vector<lang::Program> programs = chosen_programs(source, request.function);
  const Scheduled chosen = scheduled(source, programs, expected_sizes(programs, request.sizes), target, observer);
  const StepGuard compilation = observer.begin_compilation(source.name);
  const StepGuard step = observer.begin("compiling");
  Compiled compiled = source.compiler->compile({chosen, target, source.text, request.form});
  report_notes(compiled.notes, observer);
  report_notes(compiled.module_notes, observer);
  return CompiledModule(std::move(compiled.module));
}

Emission emit_text(const KernelSource& source, const TextRequest& request, Stage stage, const Target& target,
                   const std::string& after, const Observer& observer) {
  expect_text(source);
  const std::string name = stage_name(stage);
  if (const NetworkKernel* kernel = source.as_network())
    return emit_network(source, *kernel->network, request, stage, target, after, observer);
  if (is_of_networks(stage)) throw OptionError(Option::stage, name + ": expected a network, got " + source.name);
  if (source.as_foreign() && is_cuda_source(source.as_foreign()->source.file)) {
    if (stage != Stage::ptx)
      throw OptionError(Option::stage, name + ": expected ptx, which alone can be shown of " + source.name);
    return {.text = ptx_text(compile_text(source, request, target, observer), source.name), .extension = ".ptx"};
  }
  if (source.as_foreign() && stage == Stage::assembly)
    return {.text = assembly_text(*source.compiler, compile_text(source, request, target, observer))};
  if (source.as_foreign())
    throw OptionError(Option::stage, name + ": expected a kernel in ferry's own notation, got " + source.name +
                                         ", of which asm alone can be shown");
  const auto& kernel = std::get<TextKernel>(source.kind);
  if (is_of_points(stage) && (kernel.schedule || kernel.unscheduled))
    throw OptionError(Option::stage,
                      name + ": expected no schedule, because a space is what default schedules choose a point from");
  if (target.is_source && is_machine_code(stage))
    throw OptionError(Option::stage, name + ": expected a target with machine code, got '" + target.text + "'");
  const std::vector<lang::Program> programs = chosen_programs(source, request.function);
  const Scheduled chosen = scheduled(source, programs, expected_sizes(programs, request.sizes), target, observer);
  const StepGuard compilation = observer.begin_compilation(source.name);
  Emission emission = source.compiler->emit(stage, {chosen, target, source.text}, after);
  report_notes(emission.notes, observer);
  return emission;
}

}  // namespace ferry
