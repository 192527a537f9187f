#include "host/compiler/llvm/scheduled_programs.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/passes/lost_vectors.h"
#include "ferry/schedule/module_schedule.h"
#include "host/lower/lower.h"
#include "host/schedule/idle_threads.h"

namespace ferry {

std::vector<schedule::Schedule> schedules_of(const Scheduled& scheduled, const Target& target) {
  const std::span programs = scheduled.programs;
  if (scheduled.unscheduled) return {programs.begin(), programs.end()};
  if (!scheduled.schedule) return autoschedule::default_schedules(programs, target, scheduled.sizes);
  return autoschedule::replay_module_schedule(programs, *scheduled.schedule, target, scheduled.others, scheduled.sizes);
}

std::vector<std::string> schedule_notes(const Scheduled& scheduled, const std::vector<schedule::Schedule>& schedules,
                                        const Target& target) {
  std::vector<std::string> notes;
  if (!scheduled.schedule) return notes;
  for (std::size_t i = 0; i < scheduled.programs.size(); ++i) {
    for (const std::string& note : schedule::notes_on_idle_threads(schedules[i]))
      notes.push_back(scheduled.programs[i].name + ": " + note);
    try {
      for (const std::string& loop : passes::lost_vectors(lower::lower(scheduled.programs[i], schedules[i]), target)) {
        notes.push_back(scheduled.programs[i].name + ": the vectorized axis '" + loop +
                        "' runs one element after the other on this target: its iterations depend on each other, or "
                        "what is inside differs between them");
      }
    } catch (const CompileError&) {
      // Compilation reports this error.
    }
  }
  return notes;
}

}  // namespace ferry
