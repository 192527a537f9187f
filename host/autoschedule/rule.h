// A rule schedules one kind of stage. It recognises the stage, says which choices its schedule has, and adds the
// directives of any point among them. Each rule has a pair of files; rules.h lists them.
#pragma once

#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "host/autoschedule/contraction.h"
#include "host/autoschedule/space.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferry::autoschedule {

// A stage to be scheduled, in the schedule made so far.
struct StageContext {
  const schedule::Schedule& schedule;
  const schedule::ScheduledStage& stage;
  const Target& target;
  const ConstantNames& constants;  // the program's
  // Number of leading axes whose loops other stages are computed in, or that the stage shares with the stage in whose
  // loops it is computed: they stay outermost.
  std::size_t outer = 0;
  // Number of iterations of the last of these that are computed at a time, where that is in the loops of another stage.
  std::int64_t block_rows = 1;
  std::vector<std::string> epilogues = {};  // stages that may be computed in the stage's loops: epilogue_fusion.h
  // The program's stages, with extents that are symbols where the schedule must be legal for any; null: those of the
  // schedule's stages are all that it must be legal for.
  const schedule::Stages* at_any_size = nullptr;

  // Returns the stage with symbols for the extents that may differ from the expected ones. A stage that is not the
  // program's, but another rule's, has those that it has.
  const schedule::ScheduledStage& stage_at_any_size() const {
    const schedule::ScheduledStage* open = at_any_size == nullptr ? nullptr : find_stage(*at_any_size, stage.name);
    return open == nullptr ? stage : *open;
  }
};

// The stages and loops that a rule has scheduled.
struct Scheduled {
  std::vector<std::string> epilogues = {};  // they need no schedule of their own
  std::string outermost = {};               // stage whose outer loops may be made parallel; empty: none
  std::int64_t unrolled_vectors = 0;        // in a fully unrolled window, whose inputs may be prefetched
  // Stages that are computed in the scheduled loops, but whose own loops are left to other rules: the number of leading
  // axes that stay outermost (StageContext::outer).
  std::map<std::string, std::size_t> outer = {};
};

struct Match {
  Space space;
  // Adds the directives of a point to the schedule in which the stage was matched, or to an equal one.
  std::function<Scheduled(schedule::Schedule& schedule, const Point& point)> apply;
};

struct Rule {
  const char* name;
  // Returns nothing if the rule is not for this stage.
  std::optional<Match> (*match)(const StageContext& context);
};

}  // namespace ferry::autoschedule
