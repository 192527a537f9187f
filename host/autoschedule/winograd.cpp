#include "host/autoschedule/winograd.h"

#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/epilogue_fusion.h"
#include "host/autoschedule/register_tile.h"
#include "host/autoschedule/winograd_stages.h"

#include <algorithm>
#include <limits>

namespace ferry::autoschedule {

using schedule::ComputeKind;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;

namespace {

enum Parallel : std::size_t { kNone, kImages, kBlocks, kStages };

// Rows of tiles in a block if sizes are known only at run time.
constexpr std::int64_t kBlock = 2;
// Fewer tiles in a block would load the weights too often.
constexpr std::int64_t kMinTiles = 14;
// In images of open sizes, tiles of several rows are in one loop only where a row has fewer than this.
constexpr std::int64_t kMinTilesInRow = 7;
// Larger blocks are not considered.
constexpr std::int64_t kMaxBlock = 4096;
// Cost of a load for the products, in multiply-adds; that of a vector of weights, which come from the second-level
// cache, is a multiple. On AVX-512 they put the tiles 14x2, 12x2, 7x3, 6x4 and 7x2 in the order of their times.
constexpr double kLoadCost = 0.4, kWeightsCost = 4;
// Weights that the second-level cache does not hold are prefetched so many bytes ahead, because reading them from
// memory takes a large part of the time.
constexpr std::int64_t kBytesAhead = 4096;
// So are weights that at most so many register tiles read: in a network other layers have evicted them since the last
// call, and the first tile would wait for each of them.
constexpr std::int64_t kFewTiles = 8;
// Sums need so many multiply-adds in flight.
constexpr double kInFlight = 8;

// The sizes of a Winograd convolution; 0 if they are known only at run time.
struct WinogradSizes {
  std::int64_t images = 0, rows = 0, columns = 0;  // how many tiles
  std::int64_t inputs = 0, outputs = 0;            // blocks of channels
  std::int64_t points = 0;                         // elements of a transformed tile
  std::int64_t lanes = 0, bytes = 0;               // channels in a block; bytes of an element
};

WinogradSizes sizes_of(const ScheduledStage& products) {
  const auto extent = [&](std::size_t axis) { return constant_extent(products.axes[axis].extent); };
  return {.images = extent(2),
          .rows = extent(4),
          .columns = extent(5),
          .inputs = constant_extent(products.reduction()->axes[0].extent),
          .outputs = extent(3),
          .points = extent(0) * extent(1),
          .lanes = extent(6),
          .bytes = static_cast<std::int64_t>(dtype_bytes(products.outputs[0]->dtype))};
}

std::int64_t weight_bytes(const WinogradSizes& sizes) {
  return sizes.points * sizes.inputs * sizes.outputs * sizes.lanes * sizes.lanes * sizes.bytes;
}

// Whether each vector of weights is read by few register tiles.
bool has_few_tiles(const WinogradSizes& sizes, RegisterTile tile) {
  const std::int64_t tiles = sizes.images * sizes.rows * sizes.columns;
  return tiles > 0 && tiles <= kFewTiles * tile.rows;
}

// Whether each tile reads its weights from memory.
bool streams_weights(const WinogradSizes& sizes, const Target& target) {
  return weight_bytes(sizes) > l2_bytes(target) * 3 / 4;
}

// Returns the relative time of a step of the sum for all tiles of a block and all channels.
double cost(RegisterTile tile, std::int64_t tiles, std::int64_t outputs) {
  const auto step = [](std::int64_t rows, std::int64_t vectors) {
    const auto r = static_cast<double>(rows), v = static_cast<double>(vectors);
    return rows * vectors == 0 ? 0 : std::max(r * v, kInFlight) + kLoadCost * (r + kWeightsCost * v);
  };
  const auto all_tiles = [&](std::int64_t vectors) {
    return static_cast<double>(tiles / tile.rows) * step(tile.rows, vectors) + step(tiles % tile.rows, vectors);
  };
  return static_cast<double>(outputs / tile.vectors) * all_tiles(tile.vectors) + all_tiles(outputs % tile.vectors);
}

// Returns the number of rows of tiles whose transformed input and products fit the second-level cache beside the
// weights, or instead of them if the weights exceed it. It divides the rows, since a shorter block would compute its
// products under conditions, and has enough tiles for the registers.
std::int64_t default_block(const WinogradSizes& sizes, const Target& target) {
  const std::int64_t block_bytes = sizes.lanes * sizes.bytes;  // the channels in a block
  const std::int64_t row_bytes = sizes.points * sizes.columns * (sizes.inputs + sizes.outputs) * block_bytes;
  if (sizes.rows == 0 || row_bytes == 0) return kBlock;
  const std::int64_t weights = weight_bytes(sizes);
  const std::int64_t l2 = l2_bytes(target);
  const std::int64_t budget = weights <= l2 / 2 ? l2 * 5 / 8 - weights : l2;
  std::int64_t best = 0;
  for (std::int64_t block = 1; block <= std::min(sizes.rows, kMaxBlock); ++block) {
    if (sizes.rows % block != 0) continue;
    const bool is_needed = best < (kMinTiles + sizes.columns - 1) / sizes.columns;
    if (is_needed || row_bytes <= budget / block) best = block;
  }
  return best;
}

// Returns the tiles that fit the registers, with one for all tiles of the images if that fits.
std::vector<RegisterTile> tiles_of(const ScheduledStage& products, const WinogradSizes& sizes, bool in_rows,
                                   const Target& target) {
  const std::int64_t lanes = std::max<std::int64_t>(native_lanes(products, target), 1);
  const std::int64_t vectors =
      std::max<std::int64_t>((constant_extent(products.axes[6].extent) + lanes - 1) / lanes, 1);
  const auto registers = static_cast<std::uint32_t>(target.vector_registers / vectors);
  std::vector<RegisterTile> tiles = register_tiles(registers, {});
  const RegisterTile all = {sizes.rows * sizes.columns, 1};
  if (!in_rows && all.rows > 0 && all.rows + 2 < registers && std::ranges::find(tiles, all) == tiles.end())
    tiles.push_back(all);
  return tiles;
}

// `count` is the number of tiles in the loops that are split into register tiles; 0 if it is not known.
RegisterTile default_tile(const std::vector<RegisterTile>& tiles, const WinogradSizes& sizes, std::int64_t count,
                          bool is_streaming) {
  constexpr std::int64_t kMany = 28, kManyOutputs = 4;
  // Weights from memory are read once.
  if (is_streaming && count == sizes.rows * sizes.columns &&
      std::ranges::find(tiles, RegisterTile{count, 1}) != tiles.end())
    return {count, 1};
  RegisterTile best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (const RegisterTile& tile : tiles) {
    const double each = cost(tile, count == 0 ? kMany : count, sizes.outputs == 0 ? kManyOutputs : sizes.outputs);
    if (each >= best_cost) continue;
    best_cost = each;
    best = tile;
  }
  return best;
}

// Whether height or width of the image is known only at run time. The test whether a tile exists would then divide its
// number by that of tiles in a row, if tiles of several rows were in one loop.
bool has_open_rows(const StageContext& context) {
  return context.at_any_size != nullptr && has_open_extent(context.stage_at_any_size(), {4, 5});
}

std::int64_t steps_ahead(const WinogradSizes& sizes, RegisterTile tile) {
  return std::max<std::int64_t>(kBytesAhead / std::max<std::int64_t>(tile.vectors * sizes.lanes * sizes.bytes, 1), 2);
}

Parallel default_parallel(const WinogradSizes& sizes, std::int64_t block, const Target& target) {
  const std::int64_t threads = std::max<std::int64_t>(target.threads, 2);
  if (sizes.rows == 0) return kBlocks;
  if (sizes.images >= threads) return kImages;
  return (sizes.rows + block - 1) / block >= threads ? kBlocks : kStages;
}

// A point of the space.
struct WinogradBlocking {
  RegisterTile tile;
  std::int64_t block = 1;
  std::int64_t steps_ahead = 0;  // how far ahead weights are prefetched
  bool in_rows = false;          // a register tile has tiles of one row
  Parallel parallel = kNone;
};

// Makes the schedule of a group.
class Scheduler {
 public:
  Scheduler(Schedule& schedule, const WinogradStages& group, const WinogradBlocking& blocking)
      : schedule_(schedule), group_(group), blocking_(blocking) {}

  // `last` is the stage in whose loops the others are computed, and `between` are those after the result and before it.
  void run(const std::string& last, const std::vector<std::string>& between) {
    make_loops_around(last);
    for (const std::string& name : between) compute_results(name, last);
    compute_product_rows(last);
    compute_products(last);
    compute_input(last);
    if (!group_.weights.empty()) compute_weights();
  }

 private:
  std::string axis(const StageHandle& handle, std::size_t a) const {
    const schedule::StageLoops& loops = stage_of(schedule_, handle).loops;
    return loops.loop(loops.spatial(a)).name;
  }
  std::string reduction(const StageHandle& handle, std::size_t a) const {
    const schedule::StageLoops& loops = stage_of(schedule_, handle).loops;
    return loops.loop(loops.reduction(a)).name;
  }

  // Orders the loops and unrolls the last `unrolled` ones but for the innermost, which becomes vectors.
  void order(StageHandle handle, const std::vector<std::string>& loops, std::size_t unrolled) {
    handle.reorder(loops);
    for (std::size_t i = loops.size() - 1 - unrolled; i + 1 < loops.size(); ++i) handle.unroll(loops[i]);
    handle.vectorize(loops.back());
  }

  void make_loops_around(const std::string& last) {
    StageHandle handle = schedule_[last];
    const std::string n = axis(handle, 0), ob = axis(handle, 1), v = axis(handle, 4);
    const auto [rows, h] = handle.split(axis(handle, 2), group_.tile);
    const auto [column, w] = handle.split(axis(handle, 3), group_.tile);
    const auto [block, row] = handle.split(rows, blocking_.block);
    block_ = block;
    tile_ = column;
    order(handle, {n, block, ob, row, column, h, w, v}, 2);
    if (blocking_.parallel == kImages) handle.parallel(n);
    if (blocking_.parallel == kBlocks) handle.parallel(block);
    if (blocking_.parallel == kStages) handle.parallel(ob);
  }

  // Computes one tile of a stage with the axes of the result.
  void compute_results(const std::string& name, const std::string& last) {
    StageHandle handle = schedule_[name];
    const std::string n = axis(handle, 0), ob = axis(handle, 1), v = axis(handle, 4);
    const auto [rows, h] = handle.split(axis(handle, 2), group_.tile);
    const auto [columns, w] = handle.split(axis(handle, 3), group_.tile);
    order(handle, {n, ob, rows, columns, h, w, v}, 2);
    handle.compute_at(last, tile_);
  }

  void compute_product_rows(const std::string& last) {
    StageHandle handle = schedule_[group_.product_rows];
    order(handle,
          {axis(handle, 0), axis(handle, 1), axis(handle, 2), axis(handle, 3), axis(handle, 5), axis(handle, 4),
           axis(handle, 6)},
          2);
    handle.compute_at(last, tile_);
  }

  void compute_products(const std::string& last) {
    StageHandle handle = schedule_[group_.products];
    const std::string xi = axis(handle, 0), nu = axis(handle, 1), n = axis(handle, 2), v = axis(handle, 6),
                      cb = reduction(handle, 0), u = reduction(handle, 1);
    const auto [outputs, vectors] = handle.split(axis(handle, 3), blocking_.tile.vectors);
    std::vector<std::string> loops = {xi, nu, n, outputs};
    if (blocking_.in_rows) loops.push_back(axis(handle, 4));
    const std::string split = blocking_.in_rows ? axis(handle, 5) : handle.fuse(axis(handle, 4), axis(handle, 5));
    const auto [tiles, tile] = handle.split(split, blocking_.tile.rows);
    loops.insert(loops.end(), {tiles, cb, u, tile, vectors, v});
    order(handle, loops, 2);
    if (blocking_.steps_ahead > 0 && !group_.weights.empty())
      handle.apply("prefetch", {group_.weights, u, std::to_string(blocking_.steps_ahead)});
    handle.compute_at(last, block_);
    if (blocking_.parallel == kStages) handle.parallel(xi);
  }

  void compute_input(const std::string& last) {
    StageHandle handle = schedule_[group_.input];
    const std::string tile = axis(handle, 5), cb = axis(handle, 3);
    order(handle, {axis(handle, 2), cb, axis(handle, 4), tile, axis(handle, 0), axis(handle, 1), axis(handle, 6)}, 2);
    handle.compute_at(last, block_);
    if (blocking_.parallel == kStages) handle.parallel(cb);
    StageHandle rows = schedule_[group_.input_rows];
    order(rows,
          {axis(rows, 0), axis(rows, 1), axis(rows, 2), axis(rows, 3), axis(rows, 5), axis(rows, 4), axis(rows, 6)}, 2);
    rows.compute_at(group_.input, tile);
  }

  void compute_weights() {
    StageHandle handle = schedule_[group_.weights];
    const std::string ob = axis(handle, 2), u = axis(handle, 4);
    order(handle, {ob, axis(handle, 3), u, axis(handle, 0), axis(handle, 1), axis(handle, 5)}, 2);
    if (blocking_.parallel != kNone) handle.parallel(ob);
    StageHandle rows = schedule_[group_.weight_rows];
    order(rows, {axis(rows, 2), axis(rows, 3), axis(rows, 4), axis(rows, 1), axis(rows, 0), axis(rows, 5)}, 2);
    rows.compute_at(group_.weights, u);
  }

  Schedule& schedule_;
  const WinogradStages& group_;
  const WinogradBlocking& blocking_;
  std::string block_, tile_;  // loops around the blocks and the tiles of results
};

Space space_of(const WinogradSizes& sizes, const std::vector<RegisterTile>& tiles, const WinogradBlocking& by_default) {
  std::vector<KnobValue> candidates;
  for (const RegisterTile& tile : tiles) candidates.push_back({tile.rows, tile.vectors});
  const std::int64_t ahead = steps_ahead(sizes, by_default.tile);
  std::vector<std::int64_t> blocks;
  for (std::int64_t block = 1; block < std::max<std::int64_t>(sizes.rows, 8); block *= 2) blocks.push_back(block);
  if (sizes.rows > 0) blocks.push_back(sizes.rows);
  return {
      {tile_knob("tile", {"tiles", "vectors"}, std::move(candidates), {by_default.tile.rows, by_default.tile.vectors}),
       number_knob("block", KnobKind::tile, std::move(blocks), by_default.block),
       number_knob("ahead", KnobKind::grain, {0, ahead / 2, ahead, 2 * ahead}, by_default.steps_ahead),
       for_threads(order_knob("parallel", {"none", "images", "blocks", "stages"}, by_default.parallel))}};
}

}  // namespace

std::optional<Match> match_winograd(const StageContext& context) {
  const auto group = find_winograd(context.schedule.stages(), context.stage);
  if (!group || context.outer != 0) return std::nullopt;
  const WinogradSizes sizes = sizes_of(context.stage);
  const bool in_rows = has_open_rows(context) && (sizes.columns == 0 || sizes.columns >= kMinTilesInRow);
  const std::vector<RegisterTile> tiles = tiles_of(context.stage, sizes, in_rows, context.target);
  const bool can_prefetch = context.target.capabilities.row_prefetch;
  const bool is_streaming = can_prefetch && streams_weights(sizes, context.target);
  WinogradBlocking by_default;
  by_default.block = default_block(sizes, context.target);
  by_default.tile = default_tile(tiles, sizes, (in_rows ? 1 : by_default.block) * sizes.columns, is_streaming);
  if (is_streaming || (can_prefetch && has_few_tiles(sizes, by_default.tile)))
    by_default.steps_ahead = steps_ahead(sizes, by_default.tile);
  by_default.parallel = default_parallel(sizes, by_default.block, context.target);
  Match match;
  match.space = space_of(sizes, tiles, by_default);
  match.apply = [group = *group, in_rows](Schedule& schedule, const Point& point) {
    const WinogradBlocking blocking = {.tile = {point["tile"][0], point["tile"][1]},
                                       .block = point.number("block"),
                                       .steps_ahead = point.number("ahead"),
                                       .in_rows = in_rows,
                                       .parallel = static_cast<Parallel>(point.number("parallel"))};
    const ScheduledStage& result = *find_stage(schedule.stages(), group.result);
    std::vector<std::string> chain = epilogue_stages(schedule.stages(), result, "");
    // An inlined result has no loops, and nothing could be computed in them.
    if (result.compute_kind == ComputeKind::inlined && chain.empty()) schedule[group.result].compute_root();
    if (result.compute_kind == ComputeKind::root) chain.insert(chain.begin(), group.result);
    const std::string last = chain.back();
    chain.pop_back();
    Scheduler(schedule, group, blocking).run(last, chain);
    Scheduled scheduled;
    scheduled.epilogues = chain;
    for (const std::string& name :
         {last, group.weight_rows, group.weights, group.input_rows, group.input, group.products, group.product_rows})
      if (!name.empty()) scheduled.epilogues.push_back(name);
    return scheduled;
  };
  return match;
}

}  // namespace ferry::autoschedule
