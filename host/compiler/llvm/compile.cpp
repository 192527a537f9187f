#include "ferry/compile.h"

#include "crosscompile/codegen/llvm/source_line.h"
#include "crosscompile/compile.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/program.h"
#include "ferry/lang/text.h"
#include "ferry/schedule/module_schedule.h"
#include "host/lower/lower.h"

namespace ferry {

Target target(std::string_view text) { return resolve_target(text); }

Target target_of(const Device& device) { return target_of(device.facts()); }

std::string source_line(std::span<const std::uint8_t> image, std::uint64_t address) {
  return codegen::source_line(image, address);
}

CompiledModule compile(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules,
                       const Target& target, std::string source) {
  if (programs.size() != schedules.size())
    throw CompileError("expected one schedule a program, got " + std::to_string(schedules.size()) + " for " +
                       std::to_string(programs.size()));
  return CompiledModule(compile_module(lower::lower_module(programs, schedules), target,
                                       {std::move(source), autoschedule::to_text(programs, schedules)})
                            .bytes);
}

CompiledModule compile(const lang::Program& program, const schedule::Schedule& schedule, const Target& target,
                       std::string source) {
  return compile(std::span(&program, 1), std::span(&schedule, 1), target, std::move(source));
}

CompiledModule compile(std::span<const lang::Program> programs, const Target& target, std::string source) {
  return compile(programs, autoschedule::default_schedules(programs, target), target, std::move(source));
}

CompiledModule compile(const lang::Program& program, const Target& target, std::string source) {
  return compile(std::span(&program, 1), target, std::move(source));
}

CompiledModule compile(std::string_view source, const Target& target, std::string_view file) {
  return compile(lang::parse(source, file), target, std::string(source));
}

CompiledModule compile(std::string_view source, const Target& target, const ScheduleText& schedule,
                       std::string_view file) {
  const std::vector<lang::Program> programs = lang::parse(source, file);
  return compile(programs, autoschedule::replay_module_schedule(programs, schedule, target), target,
                 std::string(source));
}

}  // namespace ferry
