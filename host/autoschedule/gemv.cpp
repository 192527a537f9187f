#include "host/autoschedule/gemv.h"

#include "host/autoschedule/default_loops.h"

#include <algorithm>

namespace ferry::schedule {

namespace {

constexpr std::int64_t kMaxRows = 12;
constexpr std::int64_t kMinDepth = 64;
// Long enough to read rows of the matrix in long runs, and short enough to leave several chunks to threads.
constexpr std::int64_t kColumns = 2048;
constexpr std::int64_t kSteps = 8;

std::int64_t columns_of_chunk(const Contraction& contraction, std::int64_t lanes) {
  return std::min(kColumns, (contraction.columns + lanes - 1) / lanes * lanes);
}

// With one row, registers suffice for more steps.
std::int64_t steps_of(const Contraction& contraction) {
  return contraction.is_column_constant && contraction.rows == 1 ? 2 * kSteps : kSteps;
}

// Whether the matrix can be packed before the calls: it is constant and indexed by depth and column only.
bool is_arranged(const ScheduledStage& stage, const Contraction& contraction) {
  return contraction.is_column_constant && contraction.column_load->buffer->shape.size() == 2 &&
         stage.reduction()->axes.size() == 1 && contraction.column_dimension == 1;
}

// Orders the matrix by chunks, steps and vectors: the loops then read one contiguous stretch of memory.
void arrange(Schedule& schedule, const std::string& reader, const Contraction& contraction, std::int64_t lanes) {
  const std::int64_t chunk = columns_of_chunk(contraction, lanes);
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  StageHandle copy = StageHandle(schedule, contraction.column_load->buffer->name).cache_read("global", {reader});
  const std::string step = text(steps_of(contraction)), lane = text(lanes);
  copy.transform_layout("(k, n) -> (n / " + text(chunk) + ", k / " + step + ", n / " + lane + " % " +
                        text(chunk / lanes) + ", k % " + step + ", n % " + lane + ")");
  const StageLoops loops = stage_of(schedule, copy).loops;
  copy.vectorize(copy.split(loops.loop(loops.spatial(1)).name, lanes).second);
}

}  // namespace

bool wants_gemv(const Contraction& contraction, std::int64_t lanes, const Target& target) {
  return lanes > 1 && contraction.is_column_contiguous && contraction.rows <= kMaxRows &&
         contraction.depth >= kMinDepth && contraction.columns >= 4 * lanes &&
         contraction.column_bytes > static_cast<std::int64_t>(target.l2_bytes);
}

void schedule_gemv(Schedule& schedule, StageHandle handle, const Contraction& found, std::int64_t lanes) {
  const Contraction contraction = found;
  const ScheduledStage& stage = stage_of(schedule, handle);
  if (is_arranged(stage, contraction)) arrange(schedule, handle.name(), contraction, lanes);
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
  const auto [chunks, chunk] =
      handle.split(loops.loop(loops.spatial(contraction.column)).name, columns_of_chunk(contraction, lanes));
  const auto [vectors, lane] = handle.split(chunk, lanes);
  std::vector<std::string> order = outside;
  order.push_back(chunks);
  const std::size_t depth_axes = stage.reduction()->axes.size();
  for (std::size_t a = 0; a + 1 < depth_axes; ++a) order.push_back(loops.loop(loops.reduction(a)).name);
  const auto [blocks, step] = handle.split(loops.loop(loops.reduction(depth_axes - 1)).name, steps_of(contraction));
  order.insert(order.end(), {blocks, vectors, step});
  order.insert(order.end(), tile.begin(), tile.end());
  order.push_back(lane);
  handle.reorder(order).unroll(step).vectorize(lane);
  for (const std::string& name : tile) handle.unroll(name);
}

}  // namespace ferry::schedule
