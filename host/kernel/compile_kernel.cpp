#include "host/kernel/compile_kernel.h"

#include <chrono>

#include "crosscompile/compile.h"
#include "crosscompile/target/resolve.h"
#include "ferry/compile.h"
#include "ferry/schedule/default_schedule.h"
#include "ferry/schedule/module_schedule.h"
#include "host/kernel/schedule_notes.h"
#include "host/kernel/size_hints.h"
#include "host/lower/lower.h"
#include "host/session/bind.h"

namespace ferry {

namespace {

void expect_possible(std::span<const lang::Program> programs, const autoschedule::Sizes& sizes) {
  if (sizes.empty()) return;
  for (const lang::Program& program : programs) {
    const FunctionInfo info = describe(lower::lower(program, schedule::Schedule(program)));
    session::SymbolValues known(info.symbols.size());
    for (std::size_t s = 0; s < known.size(); ++s) {
      if (const auto size = sizes.find(info.symbols[s]); size != sizes.end()) known[s] = size->second;
    }
    session::check_sizes(info, known);
  }
}

}  // namespace

Target resolve_with_notes(const std::string& text, const Observer& observer) {
  std::vector<std::string> notes;
  Target target = resolve_target(text, &notes);
  for (const std::string& note : notes) observer.tell("note: " + note);
  return target;
}

Target target_for(const Device& device, const std::string& text, const KernelSource& source, const Observer& observer) {
  if (source.module) {
    Target target;
    target.set_arch(device_name(source.module->manifest().devices.front()));
    target.text = source.module->manifest().target;
    if (target.is_gpu() || !has_compiler()) return target;
  }
  return text.empty() ? target_of(device) : resolve_with_notes(text, observer);
}

std::vector<std::string> devices_for(const std::string& target, const KernelSource& source) {
  if (!target.empty()) {
    const Target resolved = resolve_target(target);
    return resolved.is_gpu() ? std::vector{to_text(resolved.device)} : std::vector<std::string>{};
  }
  if (!source.module) return {};
  const std::string& kind = source.module->manifest().devices.front().kind;
  return kind == "cpu" ? std::vector<std::string>{} : std::vector{kind};
}

std::vector<schedule::Schedule> schedules_of(const KernelSource& source, std::span<const lang::Program> programs,
                                             const Target& target, const Observer& observer,
                                             const autoschedule::Sizes& sizes) {
  expect_possible(programs, sizes);
  if (source.unscheduled) return {programs.begin(), programs.end()};
  if (!source.schedule) return autoschedule::default_schedules(programs, target, sizes);
  std::vector<std::string> names;
  for (const lang::Program& program : source.programs) names.push_back(program.name);
  std::vector<schedule::Schedule> schedules =
      autoschedule::replay_module_schedule(programs, *source.schedule, target, names, sizes);
  tell_schedule_notes(programs, schedules, target, observer);
  return schedules;
}

CompiledKernel compile_kernel(const KernelSource& source, const std::string& function, const Target& target,
                              const CallOptions& call, const Observer& observer, std::uint32_t code_padding) {
  if (source.module) return {*source.module};
  const Scope compilation = observer.begin_compilation(source.name);
  if (source.foreign) {
    const Scope step = observer.begin("compiling " + source.name);
    const auto begin = std::chrono::steady_clock::now();
    CompiledModule module(foreign::compile_foreign(*source.foreign, target, code_padding));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    return {std::move(module), took.count()};
  }
  const lang::Program& program = choose_program(source, function);
  const Scope step = observer.begin("compiling " + program.name);
  const auto start = std::chrono::steady_clock::now();
  const std::span programs(&program, 1);
  const std::vector<schedule::Schedule> schedules =
      schedules_of(source, programs, target, observer, size_hints(program, call));
  CompiledModule module = compile(programs, schedules, target, source.text, code_padding);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  return {std::move(module), elapsed.count()};
}

}  // namespace ferry
