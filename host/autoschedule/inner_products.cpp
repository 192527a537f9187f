#include "host/autoschedule/inner_products.h"

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/analysis/loads.h"
#include "host/autoschedule/default_loops.h"

#include <algorithm>
#include <utility>

namespace ferry::autoschedule {

using namespace ir;
using analysis::access_stride;
using analysis::AccessStride;
using analysis::loads_of;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

constexpr std::int64_t kMaxColumns = 16, kMinRows = 4;
// Packing columns takes about as long as multiplying a row by them.
constexpr std::int64_t kMinRowsToPack = 32;
// Instructions that add up a vector of partial results and store the sum.
constexpr std::int64_t kAddUp = 8;
// Targets with registers this wide have multiply-adds that read memory.
constexpr std::uint32_t kWideBits = 256;
// Most rows and columns of a tile; most rows where sums are so few vectors that adding them up takes most of the time.
constexpr std::int64_t kMaxTile = 6, kMaxRowsOfShortSums = 4, kShortSum = 16;

struct InnerProduct {
  Contraction contraction;
  std::size_t column_depth = 0;  // the dimension of the columns' tensor along the sum; its rank: none that it alone has
  bool is_packed = false;        // whether the columns are contiguous along the sum as they are
};

struct Tile {
  std::int64_t rows = 1, columns = 1;
};

// Returns the dimension that the variable alone indexes; the rank if there is none.
std::size_t dimension_of(const Load& load, const Expr& var) {
  for (std::size_t d = 0; d < load.indices.size(); ++d)
    if (load.indices[d].same_as(var)) return d;
  return load.indices.size();
}

bool is_product(const ScheduledStage& stage) {
  const Reduce* reduce = stage.reduction();
  if (reduce == nullptr || reduce->sources.size() != 1 || reduce->reducer->op != ReduceOp::sum ||
      reduce->condition.defined() || !reduce->init.empty() || reduce->axes.size() != 1)
    return false;
  const std::vector<const Load*> loads = loads_of(reduce->sources[0]);
  const DType sum = reduce->sources[0].type().code;
  return loads.size() == 2 && loads[0]->buffer != loads[1]->buffer &&
         std::ranges::all_of(loads, [&](const Load* load) { return load->buffer->dtype == sum; });
}

// Returns the product with the fewest columns.
std::optional<InnerProduct> find_inner_product(const ScheduledStage& stage, const ConstantNames& constants) {
  const Reduce& reduce = *stage.reduction();
  const std::vector<const Load*> loads = loads_of(reduce.sources[0]);
  const Expr& depth = reduce.axes[0].var;
  std::optional<InnerProduct> best;
  for (std::size_t column = 0; column < stage.axes.size(); ++column) {
    for (std::size_t side = 0; side < 2; ++side) {
      const Load &rows = *loads[side], &columns = *loads[1 - side];
      auto found = contraction_with_columns(stage, &rows, &columns, column);
      if (!found || found->row == stage.axes.size() || found->columns < 2 || found->columns > kMaxColumns ||
          constant_extent(stage.axes[found->row].extent) < kMinRows ||
          access_stride(rows, depth) != AccessStride::contiguous)
        continue;
      if (best && best->contraction.columns <= found->columns) continue;
      found->is_column_constant = constants.contains(columns.buffer->name);
      best =
          InnerProduct{*found, dimension_of(columns, depth), access_stride(columns, depth) == AccessStride::contiguous};
    }
  }
  return best;
}

// Whether vectors along the sum take fewer instructions than vectors of columns that are contiguous. Where rows come
// from memory, few instructions matter less than reading each row once.
bool beats_vectors_of_columns(const Contraction& contraction, std::int64_t lanes, const Target& target) {
  const std::int64_t columns = contraction.columns, depth = contraction.depth;
  const std::int64_t vectors =
      target.capabilities.masks ? (columns + lanes - 1) / lanes : columns / lanes + columns % lanes;
  const std::int64_t wait = contraction.row_bytes > l2_bytes(target) ? 2 : 1;
  return wait * (columns * depth / lanes + columns * kAddUp) < vectors * depth;
}

// Whether registers hold the partial results, a vector of each column, and `others`.
bool fits(Tile tile, const Target& target, std::int64_t others) {
  return tile.rows * tile.columns + tile.columns + others <= static_cast<std::int64_t>(target.vector_registers);
}

// Returns the cost of the loads of a row with all columns, as a multiple of those of one vector of a column.
double loads_of_row(Tile tile, std::int64_t columns, std::int64_t row_cost) {
  const std::int64_t tiles = columns / tile.columns, rest = columns % tile.columns;
  const std::int64_t rows = tile.rows * row_cost;
  const std::int64_t loaded = tiles * (rows + tile.columns) + (rest > 0 ? rows + rest : 0);
  return static_cast<double>(loaded) / static_cast<double>(tile.rows);
}

std::vector<KnobValue> tiles(std::int64_t columns, const Target& target) {
  std::vector<KnobValue> values;
  for (std::int64_t rows = 1; rows <= kMaxTile; ++rows)
    for (std::int64_t wide = 1; wide <= std::min(kMaxTile, columns); ++wide)
      if (fits({rows, wide}, target, 1)) values.push_back({rows, wide});
  return values;
}

// Chooses the tile that loads least; of those that load the same, the first whose columns divide all of them.
Tile default_tile(const Contraction& contraction, std::int64_t rows, std::int64_t lanes, const Target& target) {
  const bool is_short = contraction.depth < kShortSum * lanes;
  // Beside the vector of a row: what is loaded or multiplied ahead, unless multiply-adds read memory.
  const std::int64_t others = target.vector_bits >= kWideBits ? 1 : 2;
  const std::int64_t most = std::min(rows, is_short ? kMaxRowsOfShortSums : kMaxTile);
  Tile best;
  const std::int64_t row_cost = contraction.row_bytes > l2_bytes(target) ? 2 : 1;
  double best_loads = loads_of_row(best, contraction.columns, row_cost);
  for (const KnobValue& value : tiles(contraction.columns, target)) {
    const Tile tile = {value[0], value[1]};
    const double loads = loads_of_row(tile, contraction.columns, row_cost);
    const bool replaces = contraction.columns % best.columns != 0 && contraction.columns % tile.columns == 0;
    if (tile.rows > most || !fits(tile, target, others) || loads > best_loads || (loads == best_loads && !replaces))
      continue;
    best = tile;
    best_loads = loads;
  }
  return best;
}

// Stores the columns' tensor with the dimension along the sum last.
void pack_columns(Schedule& schedule, const std::string& reader, const InnerProduct& product) {
  const Buffer& tensor = *product.contraction.column_load->buffer;
  std::string axes, order;
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    const std::string name = "d" + std::to_string(d);
    axes += (d == 0 ? "" : ", ") + name;
    if (d != product.column_depth) order += name + ", ";
  }
  StageHandle copy = StageHandle(schedule, tensor.name).cache_read("global", {reader});
  copy.transform_layout("(" + axes + ") -> (" + order + "d" + std::to_string(product.column_depth) + ")");
}

void schedule_tiles(Schedule& schedule, StageHandle handle, const InnerProduct& product, Tile tile,
                    std::int64_t lanes) {
  const ScheduledStage& stage = stage_of(schedule, handle);
  const StageLoops loops = stage.loops;
  const std::size_t row = product.contraction.row, column = product.contraction.column;
  std::vector<std::string> order, inner;
  for (std::size_t a = 0; a < stage.axes.size(); ++a)
    if (a != row && a != column) order.push_back(loops.loop(loops.spatial(a)).name);
  // Rows are read once for all columns.
  for (const auto& [axis, size] : {std::pair(row, tile.rows), std::pair(column, tile.columns)}) {
    const std::string name = loops.loop(loops.spatial(axis)).name;
    const auto [outer, tiled] = handle.split(name, size);
    order.push_back(outer);
    inner.push_back(tiled);
  }
  const auto [steps, lane] = handle.split(loops.loop(loops.reduction(0)).name, lanes);
  order.push_back(steps);
  order.insert(order.end(), inner.begin(), inner.end());
  order.push_back(lane);
  handle.reorder(order).vectorize_reduction(lane);
  for (const std::string& name : inner) handle.unroll(name);
}

}  // namespace

std::optional<Match> match_inner_products(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  if (context.outer != 0 || !is_product(stage)) return std::nullopt;
  const Target& target = context.target;
  const std::int64_t lanes = native_lanes(stage, target);
  const auto product = find_inner_product(stage, context.constants);
  if (!product || lanes < 2 || product->contraction.depth < 2 * lanes) return std::nullopt;
  const Contraction& contraction = product->contraction;
  const bool can_pack = product->column_depth < contraction.column_load->indices.size() &&
                        (contraction.rows >= kMinRowsToPack || contraction.is_column_constant);
  const bool is_worth_packing =
      !contraction.is_column_contiguous || beats_vectors_of_columns(contraction, lanes, target);
  if (!product->is_packed && !(can_pack && is_worth_packing)) return std::nullopt;
  const Tile tile = default_tile(contraction, constant_extent(stage.axes[contraction.row].extent), lanes, target);
  Match match;
  match.space.knobs = {
      tile_knob("tile", {"rows", "columns"}, tiles(contraction.columns, target), {tile.rows, tile.columns})};
  if (!product->is_packed) match.space.knobs.push_back(flag_knob("pack_columns", true));
  match.apply = [name = stage.name, product = *product, lanes](Schedule& schedule, const Point& point) {
    if (point.flag("pack_columns")) pack_columns(schedule, name, product);
    schedule_tiles(schedule, schedule[name], product, {point["tile"][0], point["tile"][1]}, lanes);
    return Scheduled{.outermost = name};
  };
  return match;
}

}  // namespace ferry::autoschedule
