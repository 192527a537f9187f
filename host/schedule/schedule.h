// How a program is computed: for every stage, whether it has loops of its own and which.
#pragma once

#include "crosscompile/target/target.h"
#include "host/lang/program.h"
#include "host/schedule/stage_loops.h"

#include <optional>
#include <unordered_map>

namespace ferry::schedule {

struct StageSchedule {
  std::optional<StageLoops> loops;  // nothing: computed inline, where it is used
};

// By stage; every computed tensor's stage has an entry.
using Schedule = std::unordered_map<const lang::Stage*, StageSchedule>;

// Good for the target without being asked: cheap element-wise stages inline; the outermost loop with enough iterations
// parallel; the axis with the most contiguous accesses vectorised; reductions in a register tile. Only reads sizes and
// accesses, runs nothing.
Schedule default_schedule(const lang::Program& program, const Target& target);

}  // namespace ferry::schedule
