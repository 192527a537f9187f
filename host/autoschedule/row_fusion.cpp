#include "host/autoschedule/row_fusion.h"

#include "crosscompile/analysis/loads.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/math_lanes.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::ComputeKind;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageLoops;
using schedule::Stages;

namespace {

// Shorter rows do not fill vectors; fewer rows are too little work for threads.
constexpr std::int64_t kMinRow = 16, kMinRows = 8;
// So many short rows are computed at a time by default if a stage computes functions such as exp. Otherwise a processor
// waits for each row's reduction, because the functions of a row are too many instructions to look beyond them. A
// softmax took 0.41 to 0.96 of the time on AVX-512 and AVX2 (16 to 197 elements), but 1.05 with rows of 384; layer
// norms, which have no such function, took longer.
constexpr std::int64_t kRowsAtATime = 4, kShortRow = 256;

// A load of a stage's tensor, with its reader.
struct Read {
  const ScheduledStage* reader;
  const Load* load;
};

std::vector<Read> reads_of(const Stages& stages, const ScheduledStage& stage) {
  std::vector<Read> reads;
  for (const ScheduledStage& reader : stages)
    for (const Expr& value : reader.expressions())
      for (const Load* load : loads_of(value))
        for (const BufferRef& output : stage.outputs)
          if (load->buffer == output) reads.push_back({&reader, load});
  return reads;
}

// Returns the product of the extents of some axes; 0 when one is known only at run time.
std::int64_t points(const ScheduledStage& stage, std::size_t first, std::size_t last) {
  std::int64_t count = 1;
  for (std::size_t a = first; a < last; ++a) count *= constant_extent(stage.axes[a].extent);
  return count;
}

bool are_rows_fit(const Stages& stages, const RowFusion& fusion, const Target& target) {
  const ScheduledStage& result = *find_stage(stages, fusion.result);
  const std::int64_t row = points(result, fusion.outer, result.axes.size()), rows = points(result, 0, fusion.outer);
  if ((row != 0 && row < kMinRow) || (rows != 0 && rows < kMinRows)) return false;
  std::int64_t bytes = row * static_cast<std::int64_t>(dtype_bytes(result.outputs[0]->dtype));
  for (const std::string& name : fusion.stages) {
    const ScheduledStage& stage = *find_stage(stages, name);
    bytes += points(stage, fusion.outer, stage.axes.size()) *
             static_cast<std::int64_t>(dtype_bytes(stage.outputs[0]->dtype));
  }
  return bytes <= l2_bytes(target) / 2;
}

std::int64_t default_rows(const Stages& stages, const RowFusion& fusion, const Target& target) {
  const ScheduledStage& result = *find_stage(stages, fusion.result);
  const std::int64_t row = points(result, fusion.outer, result.axes.size());
  const bool is_short = row > 0 && row < kShortRow && points(result, fusion.outer - 1, fusion.outer) >= kRowsAtATime;
  const auto waits = [&](const std::string& name) { return has_long_chains(*find_stage(stages, name), target); };
  return is_short && std::ranges::any_of(fusion.stages, waits) ? kRowsAtATime : 1;
}

}  // namespace

std::size_t shared_axes(const ScheduledStage& reader, const Load& load) {
  const auto is_shared = [&](const Axis& axis, const Expr& index) {
    return index.same_as(axis.var) || (is_constant(axis.extent, 1) && is_constant(index, 0));
  };
  std::size_t count = 0;
  while (count < reader.axes.size() && count < load.indices.size() &&
         is_shared(reader.axes[count], load.indices[count]))
    ++count;
  return count;
}

std::size_t agreed_axes(const Stages& stages, const ScheduledStage& stage, const std::vector<std::string>& group) {
  std::size_t agreed = stage.axes.size();
  const std::vector<Read> reads = reads_of(stages, stage);
  for (const Read& read : reads) {
    if (!contains(group, read.reader->name)) return 0;
    agreed = std::min(agreed, shared_axes(*read.reader, *read.load));
  }
  return reads.empty() ? 0 : agreed;
}

RowFusion find_row_fusion(const Stages& stages, const std::vector<std::string>& apart, const Target& target) {
  RowFusion fusion;
  const ScheduledStage* result = nullptr;
  for (const ScheduledStage& stage : stages) {
    if (!stage.is_final()) continue;
    if (result != nullptr || stage.reduction() != nullptr || stage.sequence != nullptr || stage.axes.size() < 2)
      return {};
    result = &stage;
  }
  if (result == nullptr || contains(apart, result->name)) return {};
  fusion.result = result->name;
  fusion.outer = result->axes.size() - 1;
  std::vector<std::string> group = {result->name};
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    if (&*stage == result) continue;
    if (contains(apart, stage->name) || stage->sequence != nullptr || !stage->updated_by.empty()) continue;
    const std::size_t agreed = std::min(agreed_axes(stages, *stage, group), fusion.outer);
    if (agreed == 0) continue;
    fusion.outer = agreed;
    group.push_back(stage->name);
    if (stage->compute_kind == ComputeKind::inlined) continue;  // computed with its readers
    fusion.stages.push_back(stage->name);
  }
  if (fusion.stages.empty() || !are_rows_fit(stages, fusion, target)) return {};
  fusion.rows = default_rows(stages, fusion, target);
  return fusion;
}

Space space_of(const RowFusion& fusion) {
  std::vector<std::int64_t> axes;
  for (std::size_t count = 0; count <= fusion.outer; ++count) axes.push_back(static_cast<std::int64_t>(count));
  return {{number_knob("axes", KnobKind::grain, std::move(axes), static_cast<std::int64_t>(fusion.outer)),
           number_knob("rows", KnobKind::tile, {1, 2, 4, 8}, fusion.rows)}};
}

void fuse(Schedule& schedule, const RowFusion& fusion, const Target& target, const Stages& at_any_size) {
  const StageLoops unsplit = find_stage(schedule.stages(), fusion.result)->loops;
  std::vector<std::string> rows;
  for (std::size_t a = 0; a < fusion.outer; ++a) rows.push_back(unsplit.loop(unsplit.spatial(a)).name);
  if (fusion.rows > 1) rows.back() = schedule[fusion.result].split(rows.back(), fusion.rows).first;
  const ScheduledStage result = *find_stage(schedule.stages(), fusion.result);
  const StageLoops& loops = result.loops;
  // Later, the loop that other stages are computed at could not be fused.
  std::vector<std::string> shared;
  if (has_known_extents(result, &at_any_size) && is_worth_threads(loops)) shared = loops_to_share(loops, rows, target);
  std::string around = rows.back();
  if (shared.size() > 1) {
    const std::string fused = fuse_all(schedule[fusion.result], shared);
    if (shared.back() == around) around = fused;
  }
  for (const std::string& name : fusion.stages) schedule[name].compute_at(fusion.result, around);
}

}  // namespace ferry::autoschedule
