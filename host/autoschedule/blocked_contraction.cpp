#include "host/autoschedule/blocked_contraction.h"

#include "host/autoschedule/blocked_loops.h"
#include "host/autoschedule/blocking.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_code.h"
#include "host/autoschedule/epilogue_fusion.h"
#include "host/autoschedule/packing.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// Fewer rows would reuse packed columns too rarely. Columns packed before the call are worthwhile from two rows on.
constexpr std::int64_t kMinRows = 32, kMinRowsOfConstants = 2;
constexpr std::int64_t kMinDepth = 8;
// Beside a vector of sums, these hold the coefficients of an error function over all iterations of a loop.
constexpr std::uint32_t kManyRegisters = 32;
// Axes of an image whose channels are in blocks.
constexpr std::size_t kImageAxes = 5;
// Fuses the outermost loops that threads may share out, unless the first of them have enough iterations, so that no
// thread has many more of these than others. Threads share out the rows of a block of columns unless the columns are
// packed in each block. Loops over columns that are fused would hide from lowering which columns the last block lacks.
void share_evenly(const Schedule& schedule, StageHandle handle, BlockedLoops& loops, const Contraction& contraction,
                  const Blocking& blocking, bool packs_inside, const Target& target) {
  const StageLoops outer = stage_of(schedule, handle).loops;
  const auto extent = [&](const std::string& name) { return constant_extent(outer.loop(*outer.find(name)).extent); };
  const bool shares_columns =
      blocking.columns_outermost &&
      (contraction.columns % (blocking.tile.vectors * blocking.lanes) == 0 || extent(loops.columns) == 1);
  const bool shares_rows = !blocking.columns_outermost || (shares_columns && !packs_inside);
  std::vector<std::string*> candidates;
  for (std::string& name : loops.batches) candidates.push_back(&name);
  if (shares_columns) candidates.push_back(&loops.columns);
  if (shares_rows && loops.depth_block.empty())
    for (std::string& name : loops.rows) candidates.push_back(&name);
  std::vector<std::string> names;
  for (const std::string* name : candidates) names.push_back(*name);
  const std::vector<std::string> shared = loops_to_share(outer, names, target);
  if (shared.size() < 2) return;
  const std::string fused = fuse_all(handle, shared);
  for (std::string* name : candidates)
    if (std::ranges::find(shared, *name) != shared.end()) *name = fused;
  for (std::vector<std::string>* list : {&loops.batches, &loops.rows})
    list->erase(std::ranges::unique(*list).begin(), list->end());
}

// Makes the outermost loop over batches and columns, or over batches and rows, with more than one iteration parallel;
// if there is a single block of columns, and enough work, that over rows.
void make_blocks_parallel(Schedule& schedule, StageHandle handle, const BlockedLoops& loops, bool columns_outermost) {
  const StageLoops& outer = stage_of(schedule, handle).loops;
  std::vector<std::string> candidates =
      joined(loops.batches, columns_outermost ? std::vector{loops.columns} : loops.rows);
  if (columns_outermost && is_worth_threads(outer)) candidates = joined(candidates, loops.rows);
  for (const std::string& name : candidates) {
    if (is_constant(outer.loop(*outer.find(name)).extent, 1)) continue;
    handle.parallel(name);
    break;
  }
}

// Returns the innermost of these loops with more than one iteration.
std::string last_loop(const ScheduledStage& stage, const std::vector<std::string>& names) {
  for (std::size_t i = names.size(); i-- > 0;)
    if (!is_constant(stage.loops.loop(*stage.loops.find(names[i])).extent, 1)) return names[i];
  return names.back();
}

}  // namespace

std::int64_t contraction_lanes(const ScheduledStage& stage, const Target& target) {
  const std::int64_t native = native_lanes(stage, target);
  const Capabilities& can = target.capabilities;
  const std::int64_t registers = can.neon_pairs || can.neon_pairs_32bit ? 2 : can.amx_int8 ? 4 : 1;
  const bool is_image =
      stage.axes.size() == kImageAxes && constant_extent(stage.axes.back().extent) == registers * native;
  return is_image ? registers * native : native;
}

bool wants_blocks(const Contraction& contraction, std::int64_t lanes, const Target& target) {
  std::int64_t min_rows = kMinRows;
  if (contraction.is_column_constant)
    min_rows = contraction.is_column_inlined || contraction.group ? 1 : kMinRowsOfConstants;
  if (lanes < 2 || contraction.columns < lanes || contraction.rows < min_rows || contraction.depth < kMinDepth)
    return false;
  // Plain tiles have one block of channels, and load an element for each multiply-add; and packing puts the elements of
  // inlined columns in order.
  if (contraction.is_column_constant && (contraction.blocks || contraction.group || contraction.is_column_inlined))
    return true;
  return !contraction.is_column_contiguous || contraction.column_bytes > l1_bytes(target);
}

std::string schedule_blocked(Schedule& schedule, StageHandle handle, const Contraction& contraction, Blocking blocking,
                             const std::string& epilogue, const Target* sharing) {
  const ScheduledStage& stage = stage_of(schedule, handle);
  if (contraction.group) {
    // Packing rows would take groups apart, and a second vector would be no group of this block.
    blocking.packs_rows = false;
    if (!contraction.blocks) blocking.tile.vectors = 1;
  }
  const RegisterTile tile = blocking.tile;
  const std::int64_t lanes = blocking.lanes;
  const bool columns_outermost = blocking.columns_outermost;
  const bool packs_rows =
      blocking.packs_rows && tile.rows > 1 && tile.rows <= constant_extent(stage.axes[contraction.row].extent);
  // Vectors of groups are in order already.
  const bool packs_columns = blocking.packs_columns && (!contraction.group || tile.vectors > 1);
  Packing columns = column_packing(contraction, tile, lanes);
  columns.sum = stage.reduction()->axes;
  const Packing rows{contraction.row_load, contraction.row_dimension, tile.rows, lanes};
  const std::string packed_columns = packs_columns ? pack(schedule, handle.name(), columns) : "";
  const std::string packed_rows = packs_rows ? pack(schedule, handle.name(), rows) : "";

  BlockedLoops loops = make_loops(schedule, handle, stage, contraction, blocking);
  if (packs_columns && blocking.prefetches_next && columns_outermost && loops.depth_block.empty())
    handle.apply("prefetch", {packed_columns, last_loop(stage, loops.depth), "next",
                              stage.axes[contraction.row].var.as<ir::Var>()->name});
  else if (packs_columns && blocking.steps_ahead > 0)
    handle.apply("prefetch", {packed_columns, last_loop(stage, loops.depth), std::to_string(blocking.steps_ahead)});
  // The stage in whose loops the packed operands and the contraction's tiles are computed.
  StageHandle around = epilogue.empty() ? handle : schedule[epilogue];
  if (!epilogue.empty()) loops = make_loops(schedule, around, stage, contraction, blocking);
  // Root stages that depend on constants alone are computed once, so packing them stays there.
  const bool packs_inside = packs_columns && columns_outermost && !contraction.is_column_constant;
  if (blocking.is_parallel && sharing != nullptr)
    share_evenly(schedule, around, loops, contraction, blocking, packs_inside, *sharing);
  if (!epilogue.empty()) handle.compute_at(epilogue, columns_outermost ? loops.rows.back() : loops.columns);
  if (packs_columns && packs_inside) schedule[packed_columns].compute_at(around.name(), loops.columns);
  if (packs_rows) schedule[packed_rows].compute_at(around.name(), loops.rows.back());
  if (!blocking.is_parallel) return packed_columns;
  make_blocks_parallel(schedule, around, loops, columns_outermost);
  if (packs_columns && !packs_inside) make_parallel(schedule, schedule[packed_columns]);
  return packed_columns;
}

std::optional<Match> match_blocked_contraction(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  const std::int64_t lanes = contraction_lanes(stage, context.target);
  auto contraction = find_contraction(stage, lanes, context.constants);
  if (!contraction) return std::nullopt;
  const ScheduledStage* columns = find_stage(context.schedule.stages(), contraction->column_load->buffer->name);
  contraction->is_column_inlined = columns != nullptr && columns->compute_kind == schedule::ComputeKind::inlined &&
                                   contraction->row < stage.axes.size();
  contraction->group = find_group(stage, *contraction, lanes, context.target);
  if (!wants_blocks(*contraction, lanes, context.target)) return std::nullopt;
  const bool is_known = has_known_extents(stage, context.at_any_size);
  // Dividing an index by an open size takes little of the time of a tile whose columns were packed before the call.
  const bool shares = is_known || contraction->is_column_constant;
  Blocking by_default = default_blocking(stage, *contraction, lanes, context.target, is_known);
  // Columns that stay in the second-level cache gain less from blocks than an epilogue loses that is apart.
  if (!context.epilogues.empty() && contraction->column_bytes <= l2_bytes(context.target) / 2)
    by_default.depth_block = contraction->depth;
  if (context.target.vector_registers >= kManyRegisters &&
      has_error_functions(context.schedule.stages(), context.epilogues, context.target))
    by_default.epilogue = EpiloguePlace::loop;
  Match match;
  match.space = space_of(*contraction, by_default, context);
  match.apply = [name = stage.name, contraction = *contraction, lanes, target = context.target, shares,
                 epilogues = context.epilogues](Schedule& schedule, const Point& point) {
    const std::size_t first = schedule.directives().size();
    const Blocking blocking = blocking_at(point, lanes);
    const std::vector<std::string> fused = blocking.fuses(contraction.depth) ? epilogues : std::vector<std::string>{};
    schedule_blocked(schedule, schedule[name], contraction, blocking, fused.empty() ? "" : fused.back(),
                     shares ? &target : nullptr);
    if (fused.empty()) return Scheduled{.outermost = blocking.is_parallel ? name : ""};
    compute_between(schedule, name, first, fused);
    return Scheduled{.epilogues = fused};
  };
  return match;
}

}  // namespace ferry::autoschedule
