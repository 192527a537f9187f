#include "host/compiler/llvm/scheduled_programs.h"

#include "crosscompile/ir/error.h"
#include "ferry/schedule/module_schedule.h"
#include "host/schedule/idle_threads.h"

namespace ferry {

std::vector<schedule::Schedule> schedules_of(const Scheduled& scheduled, const Target& target) {
  const std::span programs = scheduled.programs;
  if (scheduled.unscheduled) return {programs.begin(), programs.end()};
  if (scheduled.point)
    return autoschedule::schedules_at(programs, *scheduled.point, target, scheduled.others, scheduled.sizes);
  if (!scheduled.schedule) return autoschedule::default_schedules(programs, target, scheduled.sizes);
  return autoschedule::replay_module_schedule(programs, *scheduled.schedule, target, scheduled.others, scheduled.sizes);
}

ScheduleNotes::ScheduleNotes(const Scheduled& scheduled, std::span<const schedule::Schedule> schedules,
                             std::span<const ir::Function> lowered, const Target& target) {
  if (!scheduled.schedule) return;
  for (std::size_t i = 0; i < scheduled.programs.size(); ++i)
    programs_.push_back({scheduled.programs[i].name, schedule::notes_on_idle_threads(schedules[i])});
  for (const ir::Function& function : lowered)
    functions_.push_back(
        {function.init_of.empty() ? function.name : function.init_of, passes::LostVectors(function, target)});
}

void ScheduleNotes::after(std::size_t function, std::string_view pass, const ir::Function& now) {
  if (!functions_.empty()) functions_.at(function).lost.after(pass, now);
}

void ScheduleNotes::run_passes(std::span<const ir::Function> lowered, const Target& target) {
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    try {
      functions_[i].lost.run_passes(lowered[i], target);
    } catch (const CompileError&) {
      // Who compiles the function reports this error.
    }
  }
}

std::vector<std::string> ScheduleNotes::texts() const {
  std::vector<std::string> notes;
  for (const Program& program : programs_) {
    for (const std::string& note : program.idle) notes.push_back(program.name + ": " + note);
    for (const Function& function : functions_) {
      if (function.program != program.name) continue;
      for (const std::string& loop : function.lost.names())
        notes.push_back(program.name + ": the vectorized axis '" + loop +
                        "' runs one element after the other on this target: its iterations depend on each other, or "
                        "what is inside differs between them");
    }
  }
  return notes;
}

}  // namespace ferry
