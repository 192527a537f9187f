#include "host/kernel/compile_kernel.h"

#include <chrono>

#include "base/overloaded.h"
#include "crosscompile/ir/error.h"
#include "host/client/bind.h"
#include "host/kernel/notes.h"
#include "host/kernel/size_hints.h"
#include "host/kernel/tuned_functions.h"
#include "module/device_id.h"

namespace ferry {

namespace {

void expect_possible(const Compiler& compiler, std::span<const lang::Program> programs, const SizesByName& sizes) {
  if (sizes.empty()) return;
  for (const lang::Program& program : programs) {
    const FunctionInfo info = compiler.describe(program);
    session::SymbolValues known(info.symbols.size());
    for (std::size_t s = 0; s < known.size(); ++s) {
      if (const auto size = sizes.find(info.symbols[s]); size != sizes.end()) known[s] = size->second;
    }
    session::check_sizes(info, known);
  }
}

bool is_cuda_kernel(const KernelSource& source) {
  return source.as_foreign() != nullptr && is_cuda_source(source.as_foreign()->source.file);
}

// Returns the whole of a compiled module's target, for which other kernels are compiled, such as one that it is
// compared with; what is known of it where this compiler does not know it.
Target known_target(const Compiler& compiler, const Target& of_module) {
  try {
    return compiler.resolve_target(of_module.text).value;
  } catch (const CompileError&) {
    return of_module;
  }
}

// Returns those besides the CPU.
std::vector<std::string> devices_of(const Manifest& manifest) {
  std::vector<std::string> names = device_ids(manifest);
  std::erase_if(names, [](const std::string& name) {
    const Result<DeviceId> id = parse_device_id(name);
    return !id.is_ok() || id.value().kind == DeviceKind::cpu;
  });
  return names;
}

}  // namespace

Target resolve_with_notes(const TargetResolver& targets, const std::string& text, const Observer& observer) {
  Noted<Target> target = targets.resolve_target(text);
  report_notes(target.notes, observer);
  return std::move(target.value);
}

Target cuda_target(const TargetResolver& targets, const DeviceFacts& facts) {
  std::string text = device_kind_name(DeviceKind::cuda);
  for (const ComputeDevice& device : facts.devices) {
    if (device.kind != device_kind_name(DeviceKind::cuda) || device.arch.empty()) continue;
    text += " -arch=" + device.arch;
    break;
  }
  return targets.resolve_target(text).value;
}

Target target_for(const DeviceFacts& facts, const std::string& text, const KernelSource& source,
                  const Observer& observer) {
  if (const ModuleKernel* compiled = source.as_module()) {
    Target target;
    const ModuleDevice& device = compiled->module.manifest().devices.front();
    target.set_arch(device_name(device));
    target.device.kind = device_kind_named(device.kind).value_or(DeviceKind::cpu);
    target.text = compiled->module.manifest().target;
    if (source.compiler == nullptr) return target;
    if (!target.is_for_cpu()) return known_target(*source.compiler, target);
  }
  const Compiler& compiler = expect_compiler(source.compiler, source.name);
  if (text.empty() && is_cuda_kernel(source)) return cuda_target(compiler, facts);
  if (text.empty()) return compiler.target_of(facts);
  Target target = resolve_with_notes(compiler, text, observer);
  // What a GPU cannot compute of a network runs on the processor beside it.
  if (source.as_network() && !target.is_for_cpu() && target.host == nullptr && target.uses_host)
    target.set_host(compiler.target_of(facts));
  return target;
}

Target target_for(const Device& device, const std::string& text, const KernelSource& source, const Observer& observer) {
  return target_for(device.facts(), text, source, observer);
}

std::vector<std::string> devices_for(const std::string& target, const KernelSource& source) {
  const ModuleKernel* compiled = source.as_module();
  if (compiled != nullptr && target.empty()) return devices_of(compiled->module.manifest());
  if (target.empty() && is_cuda_kernel(source)) return {device_kind_name(DeviceKind::cuda)};
  DeviceId device;
  if (!target.empty() && (source.compiler != nullptr || compiled == nullptr)) {
    device = expect_compiler(source.compiler, source.name).resolve_target(target).value.device;
  } else if (compiled != nullptr) {
    // A compiled module needs no compiler: the first word of a target for a GPU names the device.
    const Result<DeviceId> named = parse_device_id(target.substr(0, target.find(' ')));
    if (named.is_ok())
      device = named.value();
    else if (named.status().code() == ErrorCode::invalid_argument)
      throw OptionError(Option::target, target + ": " + named.status().message());
  }
  return device.kind == DeviceKind::cpu ? std::vector<std::string>{} : std::vector{to_text(device)};
}

SourceLine source_line_of(const CodeTools* tools) {
  if (tools == nullptr) return {};
  return [tools](std::span<const std::uint8_t> image, std::uint64_t address) {
    return tools->source_line(image, address);
  };
}

Scheduled scheduled(const KernelSource& source, std::span<const lang::Program> programs, const SizesByName& sizes) {
  expect_possible(expect_compiler(source.compiler, source.name), programs, sizes);
  const auto& kernel = std::get<TextKernel>(source.kind);
  Scheduled scheduled{programs, kernel.schedule, kernel.unscheduled, sizes, {}};
  for (const lang::Program& program : kernel.programs) scheduled.others.push_back(program.name);
  scheduled.point = kernel.point;
  return scheduled;
}

Scheduled scheduled(const KernelSource& source, std::span<const lang::Program> programs, const SizesByName& sizes,
                    const Target& target, const Observer& observer) {
  Scheduled all = scheduled(source, programs, sizes);
  all.tuned = tuned_functions(source, programs, sizes, target, observer);
  return all;
}

CompiledKernel compile_kernel(const KernelSource& source, const std::string& function, const Target& target,
                              const CallOptions& call, const Observer& observer, CodeForm form) {
  const ModuleKernel* module_kernel = source.as_module();
  if (module_kernel != nullptr && (module_kernel->object.empty() || form != CodeForm::relinkable))
    return {module_kernel->module};
  const Compiler& compiler = expect_compiler(source.compiler, source.name);
  if (module_kernel != nullptr)
    return {CompiledModule(compiler.module_of_object(module_kernel->object, source.name, form).value())};
  const StepGuard compilation = observer.begin_compilation(source.name);
  const lang::Program* program = source.as_text() ? &choose_program(source, function) : nullptr;
  const StepGuard step = observer.begin("compiling " + (program == nullptr ? source.name : program->name));
  const auto start = std::chrono::steady_clock::now();
  std::vector<TunedFunction> tuned;
  Compiled compiled =
      std::visit(Overloaded{[&](const TextKernel&) {
                              const std::span one(program, 1);
                              Scheduled chosen = scheduled(source, one, size_hints(*program, call));
                              if (takes_tuned(source))
                                chosen.tuned = tuned_functions(source, one, sizes_of_call(source, *program, call),
                                                               target, observer);
                              tuned = chosen.tuned;
                              return compiler.compile({std::move(chosen), target, source.text, form});
                            },
                            [&](const ForeignKernel& kernel) {
                              return Compiled{.module = compiler.compile(kernel.source, target, form)};
                            },
                            [&](const NetworkKernel& kernel) {
                              return kernel.network->compile(
                                  {target, size_hints(function_of(source, function), call), form, source.tuned.get()});
                            },
                            [](const ModuleKernel&) { return Compiled(); }},
                 source.kind);
  report_notes(compiled.notes, observer);
  CompiledModule module(std::move(compiled.module), std::move(compiled.blobs));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  return {std::move(module), took.count(), std::move(compiled.module_notes), std::move(tuned)};
}

}  // namespace ferry
