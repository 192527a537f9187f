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
// Cycles of a product where three or four tiles of rows share one of columns, which loads more tiles: of few rows, and
// for each further row.
constexpr double kShortTileCycles = 13, kRowCycles = 0.6;
constexpr std::int64_t kShortTile = 8;
// Products of tiles that constant columns are prefetched ahead where one group of tiles has all rows.
constexpr std::int64_t kStepsAhead = 4;
// Columns that are so many times as large as the rows are read once.
constexpr std::int64_t kMuchLarger = 4;

struct TileProduct {
  Contraction contraction;
  std::size_t group = 0, groups = 0;  // axes of the reduction
  std::int64_t group_count = 1;
  std::int64_t lanes = 1;                       // extent of the axis of columns
  std::int64_t row_extent = 1, outer_rows = 1;  // the axis of rows, and the one outside of it
  bool takes_image_rows = false;                // whether tiles may be several rows of the image
  bool packs_columns = false;                   // whether tiles of columns can be stored one after the other
  double steps = 1;                             // products of tiles in a sum
  bool has_depth_loops = false;                 // whether sums have loops around those of the tiles
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

// Whether the columns of a block, which several tiles have, are a stage that is computed once, before the calls, as is
// all else that reads it.
bool can_pack_columns(const StageContext& context, const TileProduct& product) {
  const std::string& name = product.contraction.column_load->buffer->name;
  const schedule::Stages& stages = context.schedule.stages();
  const ScheduledStage* columns = find_stage(stages, name);
  if (product.lanes == passes::kTileColumns || columns == nullptr || !context.constants.contains(name) ||
      columns->compute_kind != schedule::ComputeKind::root || columns->layout)
    return false;
  return std::ranges::none_of(stages, [&](const ScheduledStage& other) {
    return other.name != context.stage.name && !context.constants.contains(other.name) &&
           reads(other, columns->outputs);
  });
}

std::optional<TileProduct> find_tile_product(const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  const Reduce* reduce = stage.reduction();
  if (!passes::has_tiles(context.target, DType::i32) || context.outer != 0 || reduce == nullptr ||
      reduce->sources.size() != 1 || stage.compute_kind != schedule::ComputeKind::root || stage.axes.empty())
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
  product.has_depth_loops = product.group_count > passes::kTileGroups || reduce->axes.size() > 2;
  product.row_extent = constant_extent(stage.axes[contraction->row].extent);
  if (contraction->outer_row) product.outer_rows = constant_extent(stage.axes[*contraction->outer_row].extent);
  // Rows that are longer than expected would not fit a tile.
  product.takes_image_rows = has_known_extents(stage, context.at_any_size) && product.outer_rows > 1 &&
                             product.row_extent <= passes::kTileRows;
  product.packs_columns = can_pack_columns(context, product);
  const std::int64_t at_once = std::min(product.group_count, passes::kTileGroups);
  product.steps = static_cast<double>(contraction->depth / (at_once * passes::kGroupBytes));
  return product;
}

// Tiles of rows.
struct RowTiles {
  std::int64_t rows = 1, tiles = 1;
  bool are_image_rows = false;  // each tile is a row of the image, of several that are neighbours
};

RowTiles row_tiles(const TileProduct& product, std::int64_t rows) {
  if (product.takes_image_rows && rows > product.row_extent)
    return {product.row_extent, rows / product.row_extent, true};
  const std::int64_t tiles = (rows + passes::kTileRows - 1) / passes::kTileRows;
  return {(rows + tiles - 1) / tiles, tiles, false};
}

// More tiles of rows leave registers for sums of one tile of columns.
bool has_one_column(const RowTiles& tiles) { return tiles.tiles * passes::kMaxColumnTiles > passes::kMaxSums; }

// Returns the cycles of a product of tiles.
double product_cycles(const RowTiles& tiles) {
  if (has_one_column(tiles))
    return kShortTileCycles + kRowCycles * static_cast<double>(std::max<std::int64_t>(tiles.rows - kShortTile, 0));
  return kProductCycles * (tiles.tiles == 1 ? kSingleTile : 1);
}

// Returns the cycles for a row of the image and 32 columns.
double cycles(const TileProduct& product, const RowTiles& tiles) {
  const std::int64_t at_once = tiles.rows * tiles.tiles, rest = product.row_extent % at_once;
  const std::int64_t used =
      tiles.are_image_rows ? 1 : product.row_extent / at_once * tiles.tiles + (rest + tiles.rows - 1) / tiles.rows;
  const bool configures = !tiles.are_image_rows && rest != 0 && product.row_extent > at_once && rest % tiles.rows != 0;
  return static_cast<double>(used) * 2 * product_cycles(tiles) * product.steps +
         (configures ? 2 * kConfigureCycles : 0);
}

// Returns the numbers of rows among which to choose, the best first.
std::vector<std::int64_t> row_candidates(const TileProduct& product) {
  std::vector<std::int64_t> all;
  const std::int64_t most =
      product.takes_image_rows ? product.row_extent : std::max(product.row_extent, passes::kTileRows);
  for (const std::int64_t tiles : {2, 1, 4, 3})
    for (std::int64_t rows = passes::kTileRows; rows > 0; --rows)
      // The last tile may have fewer rows.
      if (tiles * rows > passes::kTileRows * (tiles - 1) && (tiles - 1) * rows < most &&
          (tiles > 2 || tiles * rows <= most))
        all.push_back(tiles * rows);
  if (product.takes_image_rows)
    for (const std::int64_t tiles : {2, 4, 3})
      if (tiles <= product.outer_rows) all.push_back(tiles * product.row_extent);
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

  // Returns the axis over rows of which several tiles read the same columns.
  std::size_t prefetching_rows() const { return tiles_.are_image_rows ? *contraction_.outer_row : contraction_.row; }

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
        rows.push_back(split(spatial(a), tiles_.are_image_rows ? 1 : tiles_.tiles, tiles_.rows, tile));
      else if (tiles_.are_image_rows && a == contraction_.outer_row)
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

// Stores the columns in the order in which tiles read them.
void pack_tiles(Schedule& schedule, const TileProduct& product) {
  const Contraction& contraction = product.contraction;
  const std::size_t rank = contraction.column_load->indices.size();
  const std::string column = "d" + std::to_string(contraction.column_dimension);
  const std::string size = std::to_string(passes::kTileColumns);
  std::string axes, blocks, others;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::string name = "d" + std::to_string(d);
    axes += (d == 0 ? "" : ", ") + name;
    if (contraction.blocks && d == contraction.blocks->dimension)
      blocks = name + ", ";
    else
      others += ", " + (d == contraction.column_dimension ? name + " % " + size : name);
  }
  schedule[contraction.column_load->buffer->name].transform_layout("(" + axes + ") -> (" + blocks + column + " / " +
                                                                   size + others + ")");
}

// Prefetches the columns of a later product, or, where several groups of tiles read them, the next ones meanwhile.
void prefetch_columns(StageHandle handle, const ScheduledStage& stage, const TileProduct& product,
                      const LoopSplitter& loops) {
  const Contraction& contraction = product.contraction;
  const std::string& columns = contraction.column_load->buffer->name;
  const StageLoops& all = stage.loops;
  const auto repeats = [&](const std::string& loop) { return !is_constant(all.loop(*all.find(loop)).extent, 1); };
  if (std::ranges::none_of(loops.rows, repeats))
    handle.apply("prefetch", {columns, loops.depth.back(), std::to_string(kStepsAhead)});
  else
    handle.apply("prefetch",
                 {columns, loops.depth.back(), "next", stage.axes[loops.prefetching_rows()].var.as<Var>()->name});
}

void make_loops(Schedule& schedule, const std::string& name, const TileProduct& product, const Point& point) {
  StageHandle handle = schedule[name];
  const ScheduledStage& stage = stage_of(schedule, handle);
  const LoopSplitter loops(handle, stage, product, point);
  const bool columns_outermost = point.flag("order");
  Names order;
  for (const Names* names : {&loops.batches, columns_outermost ? &loops.columns : &loops.rows,
                             columns_outermost ? &loops.rows : &loops.columns, &loops.depth, &loops.tile})
    order.insert(order.end(), names->begin(), names->end());
  handle.reorder(order).tensorize(loops.tile.front(), "tile_dot");
  if (point.flag("prefetch")) prefetch_columns(handle, stage, product, loops);
}

}  // namespace

std::optional<Match> match_tile_products(const StageContext& context) {
  const auto product = find_tile_product(context);
  if (!product) return std::nullopt;
  const Contraction& contraction = product->contraction;
  std::vector<KnobValue> tiles;
  for (const std::int64_t count : row_candidates(*product)) {
    const bool has_pairs = has_whole_pairs(context, *product) && !has_one_column(row_tiles(*product, count));
    for (std::int64_t vectors = has_pairs ? 2 : 1; vectors > 0; --vectors) tiles.push_back({count, vectors});
  }
  // Rows in the outer loops read all columns for each tile of rows. Columns that are much larger than the rows are
  // mostly in no cache of this core, since other layers' have replaced them, and are read once.
  const bool columns_outermost = contraction.column_bytes > l2_bytes(context.target) / 2 ||
                                 contraction.column_bytes > kMuchLarger * contraction.row_bytes;
  const bool can_prefetch = contraction.is_column_constant && product->has_depth_loops &&
                            context.target.capabilities.row_prefetch &&
                            (product->packs_columns || product->lanes == passes::kTileColumns);
  Match match;
  match.space.knobs = {tile_knob("tile", {"rows", "vectors"}, tiles, tiles.front()),
                       order_knob("order", {"rows_outside", "columns_outside"}, columns_outermost)};
  if (can_prefetch) match.space.knobs.push_back(flag_knob("prefetch", columns_outermost));
  match.apply = [name = context.stage.name, product = *product, epilogues = context.epilogues](Schedule& schedule,
                                                                                               const Point& point) {
    if (product.packs_columns) pack_tiles(schedule, product);
    const std::size_t first = schedule.directives().size();
    make_loops(schedule, name, product, point);
    return with_epilogues(schedule, name, first, epilogues);
  };
  return match;
}

}  // namespace ferry::autoschedule
