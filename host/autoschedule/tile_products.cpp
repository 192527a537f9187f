#include "host/autoschedule/tile_products.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/memory/flatten.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "crosscompile/passes/tensorize/tile_dot.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/dot_product.h"
#include "host/autoschedule/epilogue_fusion.h"

#include <algorithm>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// Fewer groups would leave most of a product of tiles unused, which takes as long as a whole one.
constexpr std::int64_t kMinTileGroups = 6;
// Cycles of a product of tiles, and for loading a configuration.
constexpr double kProductCycles = 16, kConfigureCycles = 200;
// Cost of one tile of rows instead of two, which loads the columns anew for each.
constexpr double kSingleTile = 1.15;

struct TileProduct {
  Contraction contraction;
  std::size_t group = 0, groups = 0;  // axes of the reduction
  std::int64_t group_count = 1;
  std::int64_t lanes = 1;                       // extent of the axis of columns
  std::int64_t row_extent = 1, outer_rows = 1;  // the axis of rows, and the one outside of it
  double steps = 1;                             // products of tiles in a sum
};

// Returns the load of the tensor in a product of two bytes, or null.
const Load* factor_from(const Reduce& reduce, const std::string& tensor) {
  const auto* product = reduce.sources[0].as<Binary>();
  if (product == nullptr || product->op != BinaryOp::mul) return nullptr;
  const Load *left = byte_of(product->left), *right = byte_of(product->right);
  if (left == nullptr || right == nullptr) return nullptr;
  return left->buffer->name == tensor ? left : right->buffer->name == tensor ? right : nullptr;
}

// Returns how many elements the load moves along the variable, if that is known.
std::optional<std::int64_t> steps_along(const Load& load, const Expr& var) {
  const auto affine = analysis::affine_in(passes::simplify(passes::linear_index(*load.buffer, load.indices)), var);
  return affine ? std::optional(affine->coefficient) : std::nullopt;
}

// Whether the elements of the load's tensor are in memory, as its shape says.
bool is_stored(const schedule::Stages& stages, const Load& load) {
  const ScheduledStage* producer = find_stage(stages, load.buffer->name);
  return producer == nullptr || producer->compute_kind != schedule::ComputeKind::inlined;
}

// Returns the axis of the reduction along which the rows' groups are adjacent, the one with the most.
std::optional<std::size_t> groups_axis(const Reduce& reduce, const Load& rows) {
  std::optional<std::size_t> found;
  std::int64_t most = kMinTileGroups - 1;
  for (std::size_t a = 0; a + 1 < reduce.axes.size(); ++a) {
    const std::int64_t extent = constant_extent(reduce.axes[a].extent);
    if (extent <= most || (extent > passes::kTileGroups && extent % passes::kTileGroups != 0)) continue;
    if (steps_along(rows, reduce.axes[a].var) != passes::kGroupBytes) continue;
    found = a;
    most = extent;
  }
  return found;
}

// Whether pairs of vectors of columns are always whole.
bool has_whole_pairs(const StageContext& context, const TileProduct& product) {
  if (product.lanes > passes::kTileColumns) return product.lanes % (2 * passes::kTileColumns) == 0;
  if (!product.contraction.blocks) return false;
  const std::int64_t blocks =
      constant_extent(context.stage_at_any_size().axes[product.contraction.blocks->axis].extent);
  return blocks > 0 && blocks % 2 == 0;
}

std::optional<TileProduct> find_tile_product(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  const Reduce* reduce = stage.reduction();
  if (!context.target.capabilities.amx_int8 || context.outer != 0 || reduce == nullptr || reduce->sources.size() != 1 ||
      stage.compute_kind != schedule::ComputeKind::root || stage.axes.empty())
    return std::nullopt;
  TileProduct product;
  product.lanes = constant_extent(stage.axes.back().extent);
  if (product.lanes < passes::kTileColumns || product.lanes % passes::kTileColumns != 0) return std::nullopt;
  const auto contraction = find_contraction(stage, product.lanes, context.constants);
  if (!contraction || contraction->column + 1 != stage.axes.size() || contraction->row >= stage.axes.size())
    return std::nullopt;
  product.contraction = *contraction;
  const auto group = find_group(stage, *contraction, product.lanes, context.target);
  // The extents of tiles must be constant at any size.
  const ScheduledStage& open = context.stage_at_any_size();
  const Load* rows = factor_from(*open.reduction(), contraction->row_load->buffer->name);
  if (rows == nullptr || constant_extent(open.axes.back().extent) != product.lanes) return std::nullopt;
  const auto groups = groups_axis(*open.reduction(), *rows);
  if (!group || group->size != passes::kGroupBytes ||
      constant_extent(open.reduction()->axes.back().extent) != passes::kGroupBytes || !groups ||
      !is_stored(context.schedule.stages(), *contraction->row_load) ||
      !is_stored(context.schedule.stages(), *contraction->column_load))
    return std::nullopt;
  product.group = group->axis;
  product.groups = *groups;
  product.group_count = constant_extent(reduce->axes[*groups].extent);
  product.row_extent = constant_extent(stage.axes[contraction->row].extent);
  if (contraction->outer_row) product.outer_rows = constant_extent(stage.axes[*contraction->outer_row].extent);
  const std::int64_t at_once = std::min(product.group_count, passes::kTileGroups);
  product.steps = static_cast<double>(contraction->depth / (at_once * passes::kGroupBytes));
  return product;
}

// Tiles of rows.
struct RowTiles {
  std::int64_t rows = 1, tiles = 1;
  bool in_two_rows = false;  // the two tiles are in neighbouring rows of the image
};

RowTiles row_tiles(const TileProduct& product, std::int64_t rows) {
  if (rows > product.row_extent && rows == 2 * product.row_extent) return {product.row_extent, 2, true};
  const std::int64_t tiles = rows > passes::kTileRows ? 2 : 1;
  return {(rows + tiles - 1) / tiles, tiles, false};
}

// Returns the cycles for a row of the image and 32 columns.
double cycles(const TileProduct& product, const RowTiles& tiles) {
  const std::int64_t at_once = tiles.rows * tiles.tiles, rest = product.row_extent % at_once;
  const std::int64_t used =
      tiles.in_two_rows ? 1 : product.row_extent / at_once * tiles.tiles + (rest + tiles.rows - 1) / tiles.rows;
  const bool configures = !tiles.in_two_rows && rest % tiles.rows != 0;
  return static_cast<double>(used) * 2 * kProductCycles * product.steps * (tiles.tiles == 1 ? kSingleTile : 1) +
         (configures ? 2 * kConfigureCycles : 0);
}

// Returns the numbers of rows among which to choose, the best first. `is_open`: rows may be longer than expected.
std::vector<std::int64_t> row_candidates(const TileProduct& product, bool is_open) {
  std::vector<std::int64_t> all;
  for (const std::int64_t tiles : {2, 1})
    for (std::int64_t rows = passes::kTileRows; rows > 0; --rows)
      if (tiles * rows > passes::kTileRows * (tiles - 1) &&
          tiles * rows <= std::max(product.row_extent, passes::kTileRows))
        all.push_back(tiles * rows);
  if (!is_open && product.row_extent <= passes::kTileRows && product.outer_rows > 1)
    all.push_back(2 * product.row_extent);
  std::ranges::stable_sort(all, {}, [&](std::int64_t rows) { return cycles(product, row_tiles(product, rows)); });
  constexpr std::size_t kMost = 6;
  all.resize(std::min(all.size(), kMost));
  return all;
}

using Names = std::vector<std::string>;

// Splits the loops of the stage, and sorts them by what they iterate over: those of the instruction, `tile`, and those
// around them. Tiles of columns are outside of rows, so that an epilogue, which gets the same loops, loads what it
// needs for each column once for all rows.
class LoopSplitter {
 public:
  LoopSplitter(StageHandle handle, const ScheduledStage& stage, const TileProduct& product, const Point& point)
      : handle_(handle),
        stage_(stage),
        loops_(stage.loops),
        product_(product),
        contraction_(product.contraction),
        tiles_(row_tiles(product, point["tile"][0])),
        vectors_(point["tile"][1]) {
    split_rows();
    split_columns();
    split_depth();
    tile.insert(tile.begin(), column_tiles_.begin(), column_tiles_.end());
  }

  Names batches, rows, columns, depth, tile;

 private:
  std::string spatial(std::size_t axis) const { return loops_.loop(loops_.spatial(axis)).name; }

  bool has_columns(std::size_t axis) const {
    return std::ranges::any_of(contraction_.column_load->indices,
                               [&](const Expr& index) { return uses_var(index, stage_.axes[axis].var); });
  }

  // Returns the outer loop; the inner one is one of the tile's.
  std::string split(const std::string& loop, std::int64_t size) {
    const auto [outer, inner] = handle_.split(loop, size);
    tile.push_back(inner);
    return outer;
  }

  // The same for several tiles, which are a loop of their own.
  std::string split(const std::string& loop, std::int64_t count, std::int64_t size, Names& over_tiles) {
    if (count == 1) return split(loop, size);
    const auto [outer, inner] = handle_.split(loop, count * size);
    const auto [tiles, in_tile] = handle_.split(inner, size);
    over_tiles.push_back(tiles);
    tile.push_back(in_tile);
    return outer;
  }

  void split_rows() {
    for (std::size_t a = 0; a < stage_.axes.size(); ++a) {
      if (a == contraction_.column || (contraction_.blocks && a == contraction_.blocks->axis)) continue;
      if (a == contraction_.row)
        rows.push_back(split(spatial(a), tiles_.in_two_rows ? 1 : tiles_.tiles, tiles_.rows, tile));
      else if (tiles_.in_two_rows && a == contraction_.outer_row)
        rows.push_back(split(spatial(a), tiles_.tiles));
      else
        (has_columns(a) ? batches : rows).push_back(spatial(a));
    }
  }

  // Vectors of columns are in one block, or are blocks.
  void split_columns() {
    const bool in_block = product_.lanes > passes::kTileColumns;
    if (contraction_.blocks) {
      const std::string blocks = spatial(contraction_.blocks->axis);
      if (vectors_ > 1 && !in_block) {
        const auto [outer, inner] = handle_.split(blocks, vectors_);
        columns.push_back(outer);
        column_tiles_.push_back(inner);
      } else {
        columns.push_back(blocks);
      }
    }
    const std::string column = spatial(contraction_.column);
    if (in_block)
      columns.push_back(split(column, vectors_, passes::kTileColumns, column_tiles_));
    else
      tile.push_back(column);
  }

  void split_depth() {
    const auto reduction = [&](std::size_t axis) { return loops_.loop(loops_.reduction(axis)).name; };
    for (std::size_t a = 0; a < stage_.reduction()->axes.size(); ++a)
      if (a != product_.group && a != product_.groups) depth.push_back(reduction(a));
    if (product_.group_count > passes::kTileGroups)
      depth.push_back(split(reduction(product_.groups), passes::kTileGroups));
    else
      tile.push_back(reduction(product_.groups));
    tile.push_back(reduction(product_.group));
  }

  StageHandle handle_;
  const ScheduledStage& stage_;
  const StageLoops loops_;  // as they are before they are split
  const TileProduct& product_;
  const Contraction& contraction_;
  RowTiles tiles_;
  std::int64_t vectors_;
  Names column_tiles_;
};

void make_loops(StageHandle handle, const ScheduledStage& stage, const TileProduct& product, const Point& point) {
  const LoopSplitter loops(handle, stage, product, point);
  const bool columns_outermost = point.flag("order");
  Names order;
  for (const Names* names : {&loops.batches, columns_outermost ? &loops.columns : &loops.rows,
                             columns_outermost ? &loops.rows : &loops.columns, &loops.depth, &loops.tile})
    order.insert(order.end(), names->begin(), names->end());
  handle.reorder(order).tensorize(loops.tile.front(), "tile_dot");
}

}  // namespace

std::optional<Match> match_tile_products(const StageContext& context) {
  const auto product = find_tile_product(context);
  if (!product) return std::nullopt;
  const Contraction& contraction = product->contraction;
  std::vector<KnobValue> tiles;
  const std::vector<std::int64_t> rows =
      row_candidates(*product, !has_known_extents(context.stage, context.at_any_size));
  for (const std::int64_t count : rows)
    for (std::int64_t vectors = has_whole_pairs(context, *product) ? 2 : 1; vectors > 0; --vectors)
      tiles.push_back({count, vectors});
  // Rows in the outer loops read all columns for each tile of rows.
  const bool columns_outermost = contraction.column_bytes > l2_bytes(context.target) / 2;
  Match match;
  match.space.knobs = {tile_knob("tile", {"rows", "vectors"}, tiles, tiles.front()),
                       order_knob("order", {"rows_outside", "columns_outside"}, columns_outermost)};
  match.apply = [name = context.stage.name, product = *product, epilogues = context.epilogues](Schedule& schedule,
                                                                                               const Point& point) {
    const std::size_t first = schedule.directives().size();
    StageHandle handle = schedule[name];
    make_loops(handle, stage_of(schedule, handle), product, point);
    return with_epilogues(schedule, name, first, epilogues);
  };
  return match;
}

}  // namespace ferry::autoschedule
