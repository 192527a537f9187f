#include "host/autoschedule/parallel.h"

#include "host/autoschedule/default_loops.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Attachment;
using schedule::ComputeKind;
using schedule::Dependence;
using schedule::Loop;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;
using schedule::Stages;

namespace {

constexpr std::size_t kMostLoops = 3;

// Whether a directive refers to the loop, so that it must not be fused with another.
bool is_named(const Stages& stages, const ScheduledStage& stage, std::size_t loop) {
  const auto is_here = [&](const Attachment& place) { return place.stage == stage.name && place.loop == loop; };
  return std::any_of(stages.begin(), stages.end(),
                     [&](const ScheduledStage& other) {
                       return other.compute_kind == ComputeKind::attached &&
                              (is_here(other.compute_at) || (other.store_at && is_here(*other.store_at)));
                     }) ||
         std::any_of(stage.prefetches.begin(), stage.prefetches.end(),
                     [&](const ScheduledStage::Prefetch& prefetch) { return prefetch.loop == loop; });
}

// Returns the loops that can become parallel together, outermost first: none of those that are one instruction.
std::vector<std::string> shared_loops(const Stages& stages, const ScheduledStage& stage) {
  std::vector<std::string> names;
  for (const std::size_t id : stage.loops.order()) {
    const Loop& loop = stage.loops.loop(id);
    if (loop.reduces || loop.dependence != Dependence::none) break;
    if (stage.tensorized && stage.tensorized->loop == id) break;
    if (loop.kind != ForKind::serial || names.size() == kMostLoops) break;
    if (names.empty() && is_constant(loop.extent, 1)) continue;
    const bool ends = is_named(stages, stage, id);
    if (names.empty() || !ends) names.push_back(loop.name);
    if (ends) break;
  }
  return names;
}

// Returns those of the loops, at least one, that are around others than vectors and unrolled ones: a fused index is
// divided in each of its iterations.
std::vector<std::string> around_loops(const StageLoops& loops, std::vector<std::string> names) {
  std::string innermost;
  for (const std::size_t id : loops.order())
    if (loops.loop(id).kind == ForKind::serial) innermost = loops.loop(id).name;
  if (names.size() > 1 && names.back() == innermost) names.pop_back();
  return names;
}

}  // namespace

std::optional<Match> match_parallel(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  const std::vector<std::string> names = shared_loops(context.schedule.stages(), stage);
  if (names.empty()) return std::nullopt;
  std::int64_t by_default = 0;
  if (is_worth_threads(stage.loops))
    by_default = !has_known_extents(stage, context.at_any_size)
                     ? 1
                     : static_cast<std::int64_t>(
                           loops_to_share(stage.loops, around_loops(stage.loops, names), context.target).size());
  std::vector<std::int64_t> counts;
  for (std::size_t count = 0; count <= names.size(); ++count) counts.push_back(static_cast<std::int64_t>(count));
  Match match;
  match.space.knobs = {for_threads(number_knob("loops", KnobKind::grain, counts, by_default))};
  match.apply = [name = stage.name, names](Schedule& schedule, const Point& point) {
    const auto count = static_cast<std::ptrdiff_t>(point.number("loops"));
    StageHandle handle = schedule[name];
    if (count > 0) handle.parallel(fuse_all(handle, {names.begin(), names.begin() + count}));
    return Scheduled{};
  };
  return match;
}

}  // namespace ferry::autoschedule
