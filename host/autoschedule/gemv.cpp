#include "host/autoschedule/gemv.h"

#include "host/autoschedule/default_loops.h"

#include <algorithm>

namespace ferry::autoschedule {

using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

constexpr std::int64_t kMaxRows = 12;
constexpr std::int64_t kMinGemvDepth = 64;
// Long enough to read rows of the matrix in long runs, and short enough to leave several chunks to threads.
constexpr std::int64_t kColumns = 2048;
constexpr std::int64_t kSteps = 8;

// Most unrolled vectors in one iteration that are offered as a choice.
constexpr std::int64_t kMaxUnrolled = 128;

struct Chunk {
  std::int64_t columns, steps, lanes;
};

// Returns the columns in whole vectors.
std::int64_t padded_columns(const Contraction& contraction, std::int64_t lanes) {
  return (contraction.columns + lanes - 1) / lanes * lanes;
}

Chunk default_chunk(const Contraction& contraction, std::int64_t lanes) {
  // With one row, registers suffice for more steps.
  const bool has_many_steps = contraction.is_column_constant && contraction.rows == 1;
  return {std::min(kColumns, padded_columns(contraction, lanes)), has_many_steps ? 2 * kSteps : kSteps, lanes};
}

// Whether the matrix can be packed before the calls: it is constant and indexed by depth and column only.
bool can_be_packed(const ScheduledStage& stage, const Contraction& contraction) {
  return contraction.is_column_constant && contraction.column_load->buffer->shape.size() == 2 &&
         stage.reduction()->axes.size() == 1 && contraction.column_dimension == 1;
}

// Orders the matrix by chunks, steps and vectors: the loops then read one contiguous stretch of memory.
void pack_matrix(Schedule& schedule, const std::string& reader, const Contraction& contraction, Chunk chunk) {
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  StageHandle copy = StageHandle(schedule, contraction.column_load->buffer->name).cache_read("global", {reader});
  const std::string step = text(chunk.steps), lane = text(chunk.lanes);
  copy.transform_layout("(k, n) -> (n / " + text(chunk.columns) + ", k / " + step + ", n / " + lane + " % " +
                        text(chunk.columns / chunk.lanes) + ", k % " + step + ", n % " + lane + ")");
  const StageLoops loops = stage_of(schedule, copy).loops;
  copy.vectorize(copy.split(loops.loop(loops.spatial(1)).name, chunk.lanes).second);
}

void schedule_gemv(Schedule& schedule, StageHandle handle, const Contraction& contraction, Chunk chunk, bool packs) {
  const ScheduledStage& stage = stage_of(schedule, handle);
  if (packs) pack_matrix(schedule, handle.name(), contraction, chunk);
  const StageLoops loops = stage.loops;
  std::vector<std::string> outside, tile;
  for (std::size_t a = 0; a < stage.axes.size(); ++a) {
    if (a == contraction.column) continue;
    const std::string name = loops.loop(loops.spatial(a)).name;
    if (a != contraction.row) {
      outside.push_back(name);
      continue;
    }
    // The tile has all known rows; other sizes may repeat it.
    const auto [blocks, rows] = handle.split(name, contraction.rows);
    outside.push_back(blocks);
    tile.push_back(rows);
  }
  const auto [chunks, columns] = handle.split(loops.loop(loops.spatial(contraction.column)).name, chunk.columns);
  const auto [vectors, lane] = handle.split(columns, chunk.lanes);
  std::vector<std::string> order = outside;
  order.push_back(chunks);
  const std::size_t depth_axes = stage.reduction()->axes.size();
  for (std::size_t a = 0; a + 1 < depth_axes; ++a) order.push_back(loops.loop(loops.reduction(a)).name);
  const auto [blocks, step] = handle.split(loops.loop(loops.reduction(depth_axes - 1)).name, chunk.steps);
  order.insert(order.end(), {blocks, vectors, step});
  order.insert(order.end(), tile.begin(), tile.end());
  order.push_back(lane);
  handle.reorder(order).unroll(step).vectorize(lane);
  for (const std::string& name : tile) handle.unroll(name);
}

}  // namespace

bool wants_gemv(const Contraction& contraction, std::int64_t lanes, const Target& target) {
  return lanes > 1 && contraction.is_column_contiguous && contraction.rows <= kMaxRows &&
         contraction.depth >= kMinGemvDepth && contraction.columns >= 4 * lanes &&
         contraction.column_bytes > static_cast<std::int64_t>(target.l2_bytes);
}

std::optional<Match> match_gemv(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  const std::int64_t lanes = native_lanes(stage, context.target);
  const auto contraction = find_contraction(stage, lanes, context.constants);
  if (!contraction || !wants_gemv(*contraction, lanes, context.target)) return std::nullopt;
  const Chunk chunk = default_chunk(*contraction, lanes);
  std::vector<std::int64_t> columns, steps;
  for (std::int64_t candidate = kColumns / 8; candidate <= kColumns * 4; candidate *= 2)
    if (candidate % lanes == 0 && candidate < padded_columns(*contraction, lanes)) columns.push_back(candidate);
  for (std::int64_t candidate = 2; candidate * contraction->rows <= kMaxUnrolled && candidate <= 4 * kSteps;
       candidate *= 2)
    steps.push_back(candidate);
  Match match;
  match.space.knobs = {number_knob("columns", KnobKind::tile, std::move(columns), chunk.columns),
                       number_knob("steps", KnobKind::unroll, std::move(steps), chunk.steps)};
  if (can_be_packed(stage, *contraction)) match.space.knobs.push_back(flag_knob("pack", true));
  match.apply = [name = stage.name, contraction = *contraction, lanes](Schedule& schedule, const Point& point) {
    const Chunk chosen = {point.number("columns"), point.number("steps"), lanes};
    schedule_gemv(schedule, schedule[name], contraction, chosen, point.flag("pack"));
    return Scheduled{.outermost = name};
  };
  return match;
}

}  // namespace ferry::autoschedule
