#include "host/kernel/schedule_notes.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/passes/lost_vectors.h"
#include "host/lower/lower.h"

namespace ferry {

void tell_schedule_notes(std::span<const lang::Program> programs, std::span<const schedule::Schedule> schedules,
                         const Target& target, const Observer& observer) {
  for (std::size_t i = 0; i < programs.size(); ++i) {
    try {
      for (const std::string& loop : passes::lost_vectors(lower::lower(programs[i], schedules[i]), target))
        observer.tell("note: " + programs[i].name + ": the vectorized axis '" + loop +
                      "' runs one element after the other on this target: its iterations depend on each other, or what "
                      "is inside differs between them");
    } catch (const CompileError&) {
      // Compilation reports this error.
    }
  }
}

}  // namespace ferry
