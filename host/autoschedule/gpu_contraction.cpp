#include "host/autoschedule/gpu_contraction.h"

#include "host/autoschedule/default_loops.h"
#include "host/schedule/stages/access.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/substitute.h"

#include <algorithm>
#include <array>

namespace ferry::schedule {

using namespace ir;

namespace {

// In smaller products one thread for each result fetches no more than a tile would.
constexpr std::int64_t kLeastSide = 32, kLeastDepth = 16;
// From this compute capability on copies into shared memory are asynchronous (passes/copy_async.h). With kCopies
// buffers two of them are in flight; they must fit the shared memory that a kernel has by default.
constexpr int kFirstAsync = 80;
constexpr std::int64_t kCopies = 3, kSharedBytes = 48 * 1024;
// Number of blocks that keeps all multiprocessors of a GPU busy.
constexpr std::int64_t kManyBlocks = 256;

bool is_at_least(const Expr& extent, std::int64_t least) {
  const std::int64_t known = constant_extent(extent);
  return known == 0 || known >= least;  // sizes known only at run time are assumed to be large
}

bool uses(const Load& load, const Expr& var) {
  return std::any_of(load.indices.begin(), load.indices.end(), [&](const Expr& i) { return uses_var(i, var); });
}

// Returns the axis along which `mine` is read and `other` is not.
std::optional<std::size_t> own_axis(const ScheduledStage& stage, const Load& mine, const Load& other) {
  for (std::size_t a = stage.axes.size(); a-- > 0;)
    if (uses(mine, stage.axes[a].var) && !uses(other, stage.axes[a].var)) return a;
  return std::nullopt;
}

// Whether the indices are affine in the tile's variables: then every tile reads the same number of elements, so that
// its copy has a constant size.
bool reads_tiles(const Load& load, const std::vector<Expr>& tiled) {
  for (const Expr& index : load.indices)
    for (const Expr& var : tiled)
      if (uses_var(index, var) && !passes::affine_in(index, var)) return false;
  return true;
}

// Lets all threads of the block copy a piece together, with adjacent threads copying adjacent elements.
void fetch(Schedule& schedule, StageHandle piece, const std::string& reader, const std::string& loop,
           const GpuTiles& tiles) {
  piece.compute_at(reader, loop);
  const std::string all = fuse_all(piece, names_in_order(stage_of(schedule, piece).loops));
  const auto [rounds, threads] =
      piece.split(all, tiles.rows / tiles.thread_rows * tiles.columns / tiles.thread_columns);
  const auto [y, x] = piece.split(threads, tiles.columns / tiles.thread_columns);
  piece.unroll(rounds).bind(y, "threadIdx.y").bind(x, "threadIdx.x");
  if (tiles.copies > 1) piece.double_buffer(tiles.copies);
}

}  // namespace

std::optional<GpuTiles> find_gpu_tiles(const ScheduledStage& stage, const Target& target) {
  const Reduce* reduce = stage.reduction();
  if (reduce == nullptr || reduce->sources.size() != 1 || reduce->reducer->op != ReduceOp::sum ||
      reduce->axes.size() != 1 || reduce->condition.defined() || !reduce->init.empty())
    return std::nullopt;
  const std::vector<const Load*> loads = loads_of(reduce->sources[0]);
  if (loads.size() != 2 || loads[0]->buffer == loads[1]->buffer) return std::nullopt;
  const Axis& depth = reduce->axes[0];
  const auto first = own_axis(stage, *loads[0], *loads[1]), second = own_axis(stage, *loads[1], *loads[0]);
  if (!first || !second || !uses(*loads[0], depth.var) || !uses(*loads[1], depth.var)) return std::nullopt;
  // Adjacent threads write adjacent columns.
  const std::size_t side = *first > *second ? 0 : 1;
  GpuTiles tiles;
  tiles.column = std::max(*first, *second);
  tiles.row = std::min(*first, *second);
  tiles.column_tensor = loads[side]->buffer->name;
  tiles.row_tensor = loads[1 - side]->buffer->name;
  for (const Load* load : loads)
    if (!reads_tiles(*load, {stage.axes[tiles.row].var, stage.axes[tiles.column].var, depth.var})) return std::nullopt;
  const Expr &rows = stage.axes[tiles.row].extent, &columns = stage.axes[tiles.column].extent;
  if (!is_at_least(rows, kLeastSide) || !is_at_least(columns, kLeastSide) || !is_at_least(depth.extent, kLeastDepth))
    return std::nullopt;
  constexpr std::int64_t kWide = 128;
  const std::int64_t known_rows = constant_extent(rows), known_columns = constant_extent(columns);
  if (known_rows / kWide * (known_columns / kWide) >= kManyBlocks) {
    tiles.rows = tiles.columns = kWide;
    tiles.thread_rows = tiles.thread_columns = 8;
  }
  const std::int64_t threads = tiles.rows / tiles.thread_rows * tiles.columns / tiles.thread_columns;
  if (target.block_threads != 0 && threads > target.block_threads) return std::nullopt;
  const auto bytes =
      static_cast<std::int64_t>(dtype_bytes(loads[0]->buffer->dtype) + dtype_bytes(loads[1]->buffer->dtype)) *
      tiles.depth * std::max(tiles.rows, tiles.columns);
  if (target.capability() >= kFirstAsync && bytes * kCopies <= kSharedBytes) tiles.copies = kCopies;
  return tiles;
}

void schedule_gpu_contraction(Schedule& schedule, StageHandle handle, const GpuTiles& tiles, const std::string& last) {
  const bool is_finished = !last.empty();
  StageHandle sums = is_finished ? handle : handle.cache_write("local");
  StageHandle result = is_finished ? schedule[last] : handle;
  StageHandle rows = StageHandle(schedule, tiles.row_tensor).cache_read("shared", {sums.name()});
  StageHandle columns = StageHandle(schedule, tiles.column_tensor).cache_read("shared", {sums.name()});

  const StageLoops loops = stage_of(schedule, result).loops;
  std::vector<std::string> batches;
  for (std::size_t a = 0; a < loops.spatial_axes(); ++a)
    if (a != tiles.row && a != tiles.column) batches.push_back(loops.loop(loops.spatial(a)).name);
  const auto [block_y, in_y] = result.split(loops.loop(loops.spatial(tiles.row)).name, tiles.rows);
  const auto [block_x, in_x] = result.split(loops.loop(loops.spatial(tiles.column)).name, tiles.columns);
  const auto [thread_y, y] = result.split(in_y, tiles.thread_rows);
  const auto [thread_x, x] = result.split(in_x, tiles.thread_columns);
  std::vector<std::string> order = batches;
  order.insert(order.end(), {block_y, block_x, thread_y, thread_x, y, x});
  result.reorder(order);
  if (!batches.empty()) result.bind(fuse_all(result, batches), "blockIdx.z");
  result.bind(block_y, "blockIdx.y").bind(block_x, "blockIdx.x");
  result.bind(thread_y, "threadIdx.y").bind(thread_x, "threadIdx.x").unroll(y).unroll(x);

  sums.compute_at(result.name(), thread_x);
  if (is_finished) sums.set_scope("local");
  const StageLoops sum_loops = stage_of(schedule, sums).loops;
  const auto [pieces, step] = sums.split(sum_loops.loop(sum_loops.reduction(0)).name, tiles.depth);
  std::vector<std::string> sum_order{pieces, step};
  for (std::size_t a = 0; a < sum_loops.spatial_axes(); ++a)
    sum_order.push_back(sum_loops.loop(sum_loops.spatial(a)).name);
  sums.reorder(sum_order).unroll(step);
  fetch(schedule, rows, sums.name(), pieces, tiles);
  fetch(schedule, columns, sums.name(), pieces, tiles);
}

}  // namespace ferry::schedule
