#include "host/autoschedule/nontemporal_stores.h"

#include "host/autoschedule/default_loops.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Schedule;
using schedule::ScheduledStage;

namespace {

constexpr std::int64_t kLargestCache = std::int64_t{64} << 20;

bool exceeds_caches(const ScheduledStage& stage) {
  return std::all_of(stage.outputs.begin(), stage.outputs.end(),
                     [](const BufferRef& output) { return constant_bytes(*output) > kLargestCache; });
}

}  // namespace

std::optional<Match> match_nontemporal_stores(const StageContext& context) {
  // A recurrence or a scatter reads again what it has stored.
  if (!context.stage.is_result || context.stage.sequence != nullptr || !exceeds_caches(context.stage))
    return std::nullopt;
  Match match;
  match.space.knobs = {flag_knob("nontemporal", true)};
  match.apply = [name = context.stage.name](Schedule& schedule, const Point& point) {
    if (point.flag("nontemporal")) schedule[name].nontemporal_stores();
    return Scheduled{};
  };
  return match;
}

}  // namespace ferry::autoschedule
