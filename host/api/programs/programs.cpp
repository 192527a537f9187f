// The services of ferry/measure.h for programs that are built with ferry/lang.h.
#include <optional>
#include <span>
#include <utility>

#include "ferry/measure.h"
#include "ferry/schedule/module_schedule.h"
#include "host/api/own_compiler.h"
#include "host/kernel/emit_text.h"
#include "host/verify/check_interpreted.h"

namespace ferry {

namespace {

KernelSource source_of(const lang::Program& program, const schedule::Schedule& schedule) {
  KernelSource source;
  source.compiler = own_compiler();
  source.name = program.name;
  source.kind =
      TextKernel{.programs = {program},
                 .schedule = ScheduleText{autoschedule::to_text(std::span(&program, 1), std::span(&schedule, 1))}};
  return source;
}

}  // namespace

verify::CheckReport check(const lang::Program& program, const schedule::Schedule& schedule, const ProgramCheck& request,
                          const Observer& observer) {
  return verify::check_interpreted(source_of(program, schedule), "", request.target, request.call,
                                   {request.limits, request.call.seed, request.thorough}, observer);
}

std::string emit(std::string_view stage, const lang::Program& program, const schedule::Schedule& schedule,
                 const Target& target, const std::string& after, const Observer& observer) {
  const std::optional<Stage> named = stage_named(stage);
  if (!named)
    throw UsageError("expected a stage of compilation, such as lower or asm, got '" + std::string(stage) + "'");
  return emit_text(source_of(program, schedule), {}, *named, target, after, observer).text;
}

}  // namespace ferry
