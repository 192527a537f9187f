#include "host/autoschedule/packed_dots.h"

#include "crosscompile/passes/tensorize/tile_dot.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_fusion.h"
#include "host/autoschedule/packed_operands.h"
#include "host/autoschedule/reduction.h"
#include "host/autoschedule/register_tile.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// Fewer rows would reuse packed columns too rarely. Columns packed before the call are worthwhile from two rows on.
constexpr std::int64_t kMinRows = 8, kMinRowsOfConstants = 2;
// Groups in a shorter sum.
constexpr std::int64_t kMinGroups = 2;
// Bytes of a row that one load brings, where groups are lanes of a register (codegen/llvm/memory/repeated_loads.h).
constexpr std::int64_t kRowBytes = 16, kRowBytesOfPairs = 8;

// A product of tiles takes as long for fewer rows and for a shorter sum, and a shorter sum, here in bytes, is padded.
constexpr std::int64_t kMinTileRows = 8, kMinTileDepth = 48;

// Whether a tile of the knob's values is one of AMX's: those of vectors have fewer rows.
bool is_of_amx(RegisterTile tile) { return tile.rows >= passes::kTileRows; }

bool wants_amx(const DotProduct& product, std::int64_t lanes, const Target& target) {
  const auto is_enough = [](std::int64_t extent, std::int64_t least) { return extent == 0 || extent >= least; };
  return passes::has_tiles(target, product.is_float ? DType::f32 : DType::i32) && lanes == passes::kTileColumns &&
         is_enough(product.row_extent, kMinTileRows) &&
         is_enough(product.depth, kMinTileDepth / product.bytes_of_element);
}

// Returns the tiles of one or two registers of rows and of columns.
std::vector<RegisterTile> amx_tiles() {
  std::vector<RegisterTile> tiles;
  for (const std::int64_t rows : {1, 2})
    for (const std::int64_t vectors : {1, 2}) tiles.push_back({rows * passes::kTileRows, vectors});
  return tiles;
}

// The largest one, unless one register of rows or columns has them all.
RegisterTile default_amx_tile(const DotProduct& product) {
  const auto registers = [](std::int64_t extent, std::int64_t size) -> std::int64_t {
    return extent > 0 && extent <= size ? 1 : 2;
  };
  return {registers(product.row_extent, passes::kTileRows) * passes::kTileRows,
          registers(product.column_extent, passes::kTileColumns)};
}

// Returns the number of groups of a row that share a register, each of which an instruction, or the instruction that
// uses it, broadcasts from there; 1 where elements in memory are broadcast.
std::int64_t groups_at_once(const DotProduct& product, const Target& target) {
  if (!target.capabilities.neon_pairs && !target.capabilities.neon_pairs_32bit) return 1;
  const auto group = static_cast<std::int64_t>(product.instruction->group);
  return (product.instruction->temporaries > 0 ? kRowBytesOfPairs : kRowBytes) / group;
}

TiledAxes tiled_axes(const DotProduct& product, std::int64_t lanes, const Target& target) {
  TiledAxes axes = {.columns = product.column_extent, .lanes = lanes, .rows = product.row_extent};
  axes.has_rows = product.row_axis < product.batch_axes.size() + product.outer_axes.size() + 1;
  axes.has_whole_vectors = true;
  axes.row_registers += product.instruction->temporaries;
  if (groups_at_once(product, target) > 1) {
    const bool broadcasts = product.instruction->temporaries > 0;
    axes.registers_per_row = 1;
    axes.row_registers = broadcasts ? 1 + product.instruction->temporaries : 0;
    axes.vector_cost = broadcasts ? 1 : static_cast<double>(groups_at_once(product, target));
  }
  return axes;
}

// The rows' tensor is read once for each tile of columns.
bool wants_columns_outermost(const DotProduct& product, const Target& target) {
  if (product.rows.bytes == 0 || product.rows.bytes <= l2_bytes(target) * 3 / 4) return true;
  return product.columns.bytes > l2_bytes(target) / 2;
}

// Splits and orders the loops of the stage of the products for AMX's tiles. That over tiles of columns is AXIS.outer.
void make_amx_loops(StageHandle handle, const ScheduledStage& stage, const DotProduct& product, RegisterTile tile,
                    bool columns_outermost) {
  const StageLoops loops = stage.loops;
  const auto name_of = [&](std::size_t axis) { return loops.loop(loops.spatial(axis)).name; };
  std::vector<std::string> order, rows, inner;
  // Returns the loop over tiles.
  const auto split = [&](const std::string& loop, std::int64_t count, std::int64_t size) {
    const auto [outer, in_tiles] = handle.split(loop, count * size);
    if (count == 1) {
      inner.push_back(in_tiles);
    } else {
      const auto [tiles, in_tile] = handle.split(in_tiles, size);
      inner.insert(inner.end(), {tiles, in_tile});
    }
    return outer;
  };
  for (const std::size_t axis : product.batch_axes) order.push_back(name_of(axis));
  for (const std::size_t axis : product.outer_axes) rows.push_back(name_of(axis));
  rows.push_back(split(name_of(product.row_axis), tile.rows / passes::kTileRows, passes::kTileRows));
  const std::string columns = split(name_of(stage.axes.size() - 1), tile.vectors, passes::kTileColumns);
  const std::string depth =
      split(loops.loop(loops.reduction(0)).name, passes::kTileGroups, passes::kGroupBytes / product.bytes_of_element);
  if (columns_outermost) order.push_back(columns);
  order.insert(order.end(), rows.begin(), rows.end());
  if (!columns_outermost) order.push_back(columns);
  order.push_back(depth);
  order.insert(order.end(), inner.begin(), inner.end());
  handle.reorder(order).tensorize(inner.front(), "tile_dot");
}

// Splits and orders the loops of the stage of the products. That over tiles of columns is AXIS.outer.
void make_loops(StageHandle handle, const ScheduledStage& stage, const DotProduct& product, RegisterTile tile,
                std::int64_t lanes, bool columns_outermost, std::int64_t groups) {
  const StageLoops loops = stage.loops;
  const auto name_of = [&](std::size_t axis) { return loops.loop(loops.spatial(axis)).name; };
  std::vector<std::string> batches, rows, depth, inner;
  for (const std::size_t axis : product.batch_axes) batches.push_back(name_of(axis));
  for (const std::size_t axis : product.outer_axes) rows.push_back(name_of(axis));
  const auto [sums, products] = handle.split(loops.loop(loops.reduction(0)).name, product.instruction->group);
  depth = {sums};
  std::vector<std::string> unrolled;
  if (groups > 1) {
    const auto [outer, at_once] = handle.split(sums, groups);
    depth = {outer, at_once};
    unrolled.push_back(at_once);
  }
  if (product.row_axis < stage.axes.size()) {
    const std::string row = name_of(product.row_axis);
    if (tile.rows > 1) {
      const auto [outer, row_in_tile] = handle.split(row, tile.rows);
      rows.push_back(outer);
      inner.push_back(row_in_tile);
      unrolled.push_back(row_in_tile);
    } else {
      rows.push_back(row);
    }
  }
  const auto [columns, column_in_tile] = handle.split(name_of(stage.axes.size() - 1), tile.vectors * lanes);
  std::string lane = column_in_tile;
  if (tile.vectors > 1) {
    const auto [vectors, in_vector] = handle.split(column_in_tile, lanes);
    inner.push_back(vectors);
    unrolled.push_back(vectors);
    lane = in_vector;
  }
  std::vector<std::string> order = batches;
  if (columns_outermost) order.push_back(columns);
  order.insert(order.end(), rows.begin(), rows.end());
  if (!columns_outermost) order.push_back(columns);
  order.insert(order.end(), depth.begin(), depth.end());
  order.insert(order.end(), inner.begin(), inner.end());
  order.insert(order.end(), {lane, products});
  handle.reorder(order);
  for (const std::string& name : unrolled) handle.unroll(name);
  handle.tensorize(lane, "dot");
}

// Sums up the rows in the way of any other reduction.
void schedule_totals(Schedule& schedule, const std::string& name, const Target& target,
                     const ConstantNames& constants) {
  const ScheduledStage& stage = *find_stage(schedule.stages(), name);
  if (auto match = match_reduction({schedule, stage, target, constants}))
    match->apply(schedule, match->space.default_point());
  make_parallel(schedule, schedule[name]);
}

struct Choice {
  DotProduct product;
  std::int64_t lanes = 1, groups = 1;
  bool has_open_depth = false, has_open_columns = false;  // whether they must be legal for other sizes too
  std::vector<std::string> epilogues;
};

Scheduled schedule_dots(Schedule& schedule, const std::string& name, const Choice& choice, const Point& point,
                        const Target& target, const ConstantNames& constants) {
  const RegisterTile tile = {point["tile"][0], point["tile"][1]};
  const bool columns_outermost = point.flag("order"), is_parallel = point.flag("parallel");
  const DotProduct& product = choice.product;
  std::string products = name, packed, totals;
  std::vector<std::string> epilogues = choice.epilogues;
  const bool is_amx = is_of_amx(tile);
  if (product.flips_columns && !is_amx) {
    packed = free_name(schedule.stages(), product.columns.tensor + ".flipped");
    totals = free_name(schedule.stages(), name + ".totals");
    products = free_name(schedule.stages(), name + ".products");
    schedule[name].apply("flip", {product.columns.tensor});
    epilogues.insert(epilogues.begin(), name);
  } else {
    packed = StageHandle(schedule, product.columns.tensor).cache_read("global", {products}).name();
  }
  const auto group =
      is_amx ? passes::kGroupBytes / product.bytes_of_element : static_cast<std::int64_t>(product.instruction->group);
  const std::int64_t step = is_amx ? passes::kTileDepth / product.bytes_of_element : group;
  const bool pads_depth = choice.has_open_depth || product.depth % step != 0;
  const bool pads_columns = choice.has_open_columns || product.column_extent % (tile.vectors * choice.lanes) != 0;
  const PackedColumns panels{product.columns, group, tile.vectors * choice.lanes};
  if (pads_columns) pad(schedule, packed, product.columns.own_dimension, panels.panel);
  if (pads_depth) pad(schedule, packed, product.columns.depth_dimension, step);
  std::string copied;
  if (pads_depth || !product.rows.is_contiguous) {
    copied = StageHandle(schedule, product.rows.tensor).cache_read("global", {products}).name();
    if (pads_depth) pad(schedule, copied, product.rows.depth_dimension, step);
  }
  StageHandle handle = schedule[products];
  if (pads_depth) {
    const StageLoops& loops = stage_of(schedule, handle).loops;
    handle.apply("pad", {loops.loop(loops.reduction(0)).name, std::to_string(step)});
  }
  const std::size_t first = schedule.directives().size();
  if (is_amx)
    make_amx_loops(handle, stage_of(schedule, handle), product, tile, columns_outermost);
  else
    make_loops(handle, stage_of(schedule, handle), product, tile, choice.lanes, columns_outermost, choice.groups);
  const Scheduled scheduled = with_epilogues(schedule, products, first, epilogues);
  pack_columns(schedule, packed, panels);
  // Root stages that depend on constants alone are computed once, so packing them stays there.
  if (columns_outermost && !product.columns.is_constant) {
    const StageLoops& around = find_stage(schedule.stages(), scheduled.outermost)->loops;
    schedule[packed].compute_at(scheduled.outermost,
                                around.loop(around.spatial(around.spatial_axes() - 1)).name + ".outer");
  } else {
    make_parallel(schedule, schedule[packed]);
  }
  if (!copied.empty()) copy_rows(schedule, copied, product.rows, target);
  if (!totals.empty()) schedule_totals(schedule, totals, target, constants);
  // Fused with those over rows, loops over columns would hide from lowering that packed columns are padded.
  if (is_parallel) make_parallel(schedule, schedule[scheduled.outermost]);
  return {.epilogues = choice.epilogues};
}

}  // namespace

bool wants_packed_dots(const DotProduct& product, std::int64_t lanes, const Target& target) {
  const auto is_less = [](std::int64_t extent, std::int64_t least) { return extent > 0 && extent < least; };
  // Without tiles, products of bfloat16 are multiply-adds of float32.
  if (product.is_float && !wants_amx(product, lanes, target)) return false;
  const auto group = static_cast<std::int64_t>(product.instruction->group);
  return lanes > 1 && !is_less(product.all_rows, product.columns.is_constant ? kMinRowsOfConstants : kMinRows) &&
         !is_less(product.column_extent, lanes) && !is_less(product.depth, kMinGroups * group) &&
         product.row_axis < product.batch_axes.size() + product.outer_axes.size() + 1;
}

std::optional<Match> match_packed_dots(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  if (context.outer != 0 || stage.compute_kind != schedule::ComputeKind::root) return std::nullopt;
  const std::int64_t lanes = native_lanes(stage, context.target);
  const auto product = find_dot_product(stage, lanes, context.target, context.constants);
  if (!product || !wants_packed_dots(*product, lanes, context.target)) return std::nullopt;
  const TiledAxes axes = tiled_axes(*product, lanes, context.target);
  RegisterTile tile = choose_register_tile(context.target.vector_registers, axes);
  std::vector<KnobValue> tiles;
  if (!product->is_float)
    for (const RegisterTile& one : register_tiles(context.target.vector_registers, axes))
      tiles.push_back({one.rows, one.vectors});
  if (wants_amx(*product, lanes, context.target)) {
    for (const RegisterTile& one : amx_tiles()) tiles.push_back({one.rows, one.vectors});
    tile = default_amx_tile(*product);
  }
  Match match;
  match.space.knobs = {
      tile_knob("tile", {"rows", "vectors"}, std::move(tiles), {tile.rows, tile.vectors}),
      order_knob("order", {"rows_outside", "columns_outside"}, wants_columns_outermost(*product, context.target)),
      for_threads(flag_knob("parallel", true))};
  Choice choice{*product, lanes, groups_at_once(*product, context.target), false, false, context.epilogues};
  if (context.at_any_size != nullptr) {
    const ScheduledStage& open = context.stage_at_any_size();
    choice.has_open_depth = constant_extent(open.reduction()->axes[0].extent) == 0;
    choice.has_open_columns = constant_extent(open.axes.back().extent) == 0;
  }
  match.apply = [name = stage.name, choice, target = context.target, constants = context.constants](
                    Schedule& schedule, const Point& point) {
    return schedule_dots(schedule, name, choice, point, target, constants);
  };
  return match;
}

}  // namespace ferry::autoschedule
