#include "host/autoschedule/block_sums.h"

#include "host/autoschedule/block_tiles.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_fusion.h"

#include <vector>

namespace ferry::autoschedule {

using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;

namespace {

// Longer last axes of a block's sum stay a loop.
constexpr std::int64_t kMostUnrolled = 16;

// `constants`: those of the sums that are prefetched.
Scheduled schedule_block_sums(Schedule& schedule, const BlockSums& choice, const std::vector<ir::BufferRef>& constants,
                              RegisterTile tile, std::int64_t bytes_ahead) {
  StageHandle sums = schedule[choice.sums], total = schedule[choice.total];
  const std::size_t first = schedule.directives().size();
  const std::string blocks = schedule_total(schedule, choice, tile);
  const std::vector<std::string> steps = reduction_loops(schedule, sums);
  const std::int64_t last = constant_extent(stage_of(schedule, sums).reduction()->axes.back().extent);
  const TiledLoops loops = split_tiles(schedule, sums, choice.rows, tile, choice.lanes);
  sums.reorder(loops.around(steps)).vectorize(loops.tile.back());
  unroll_tile(sums, loops);
  const std::int64_t columns = tile.vectors * choice.lanes;
  prefetch_columns(total, choice.constants_of_total, blocks, columns, bytes_ahead);
  prefetch_columns(sums, constants, steps[0], columns, bytes_ahead);
  if (steps.size() > 1 && last > 0 && last <= kMostUnrolled) sums.unroll(steps.back());
  sums.compute_at(choice.total, blocks);
  Scheduled scheduled = with_epilogues(schedule, choice.total, first, choice.epilogues);
  scheduled.epilogues.push_back(choice.total);
  return scheduled;
}

}  // namespace

std::optional<Match> match_block_sums(const StageContext& context) {
  const auto choice = find_block_sums(context);
  if (!choice || !has_vectors_of_columns(context.stage, context.target)) return std::nullopt;
  const ScheduledStage& stage = context.stage;
  const std::vector<ir::BufferRef> constants =
      streamed_constants(stage.reduction()->sources[0], stage.axes.back().var, context);
  const TiledAxes axes = choice->tiled_axes();
  Match match;
  match.space.knobs = {block_tile_knob(axes, context.target)};
  if (!constants.empty()) match.space.knobs.push_back(ahead_knob(axes, match.space.knobs[0].default_value()));
  match.apply = [choice = *choice, constants](Schedule& schedule, const Point& point) {
    return schedule_block_sums(schedule, choice, constants, {point["tile"][0], point["tile"][1]},
                               point.number("ahead", 0));
  };
  return match;
}

}  // namespace ferry::autoschedule
