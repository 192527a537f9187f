#include "host/autoschedule/gpu_contraction.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/passes/gpu/extract_kernels.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/gpu_threads.h"

#include "crosscompile/analysis/affine.h"
#include "crosscompile/ir/substitute.h"

#include <algorithm>
#include <array>

namespace ferry::autoschedule {

using namespace ir;
using analysis::loads_of;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// In smaller contractions one thread for each result fetches no more than a tile would.
constexpr std::int64_t kLeastSide = 32, kLeastDepth = 16;
// Where copies into shared memory are asynchronous (crosscompile/passes/gpu/copy_async.h), kCopies buffers keep two of
// them in flight; they must fit the shared memory that a kernel has by default.
constexpr std::int64_t kCopies = 3;
// Number of blocks that keeps all multiprocessors of a GPU busy.
constexpr std::int64_t kManyBlocks = 256;
// Side of the larger of the two tiles that default schedules use.
constexpr std::int64_t kWide = 128;
constexpr std::int64_t kWarp = 32;

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
      if (uses_var(index, var) && !analysis::affine_in(index, var)) return false;
  return true;
}

struct GpuTiles {
  std::int64_t rows = 64, columns = 64, depth = 16;  // size of a block's tile
  std::int64_t thread_rows = 4, thread_columns = 4;
  std::int64_t copies = 1;  // buffers for fetched pieces

  std::int64_t threads() const { return rows / thread_rows * (columns / thread_columns); }
};

// A contraction and its operands.
struct GpuContraction {
  std::size_t row = 0, column = 0;        // axes of the stage
  std::string row_tensor, column_tensor;  // the operands that are fetched
  std::int64_t bytes = 0;                 // the size of one element of each, together
  bool is_large = false;                  // enough large tiles for all multiprocessors
};

// Returns nothing for stages that are not contractions over one axis, and for those too small for tiling to pay off.
std::optional<GpuContraction> find_gpu_contraction(const ScheduledStage& stage) {
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
  GpuContraction contraction;
  contraction.column = std::max(*first, *second);
  contraction.row = std::min(*first, *second);
  contraction.column_tensor = loads[side]->buffer->name;
  contraction.row_tensor = loads[1 - side]->buffer->name;
  for (const Load* load : loads)
    if (!reads_tiles(*load, {stage.axes[contraction.row].var, stage.axes[contraction.column].var, depth.var}))
      return std::nullopt;
  const Expr &rows = stage.axes[contraction.row].extent, &columns = stage.axes[contraction.column].extent;
  if (!is_at_least(rows, kLeastSide) || !is_at_least(columns, kLeastSide) || !is_at_least(depth.extent, kLeastDepth))
    return std::nullopt;
  contraction.bytes =
      static_cast<std::int64_t>(dtype_bytes(loads[0]->buffer->dtype) + dtype_bytes(loads[1]->buffer->dtype));
  contraction.is_large = constant_extent(rows) / kWide * (constant_extent(columns) / kWide) >= kManyBlocks;
  return contraction;
}

// Lets all threads of the block copy a piece together, with adjacent threads copying adjacent elements.
void fetch(Schedule& schedule, StageHandle piece, const std::string& reader, const std::string& loop,
           const GpuTiles& tiles) {
  piece.compute_at(reader, loop);
  const std::string all = fuse_all(piece, names_in_order(stage_of(schedule, piece).loops));
  const auto [rounds, threads] = piece.split(all, tiles.threads());
  const auto [y, x] = piece.split(threads, tiles.columns / tiles.thread_columns);
  piece.unroll(rounds).bind(y, "threadIdx.y").bind(x, "threadIdx.x");
  if (tiles.copies > 1) piece.double_buffer(tiles.copies);
}

void schedule_gpu_contraction(Schedule& schedule, StageHandle handle, const GpuContraction& contraction,
                              const GpuTiles& tiles, const std::string& last) {
  const bool is_finished = !last.empty();
  StageHandle sums = is_finished ? handle : handle.cache_write("local");
  StageHandle result = is_finished ? schedule[last] : handle;
  StageHandle rows = StageHandle(schedule, contraction.row_tensor).cache_read("shared", {sums.name()});
  StageHandle columns = StageHandle(schedule, contraction.column_tensor).cache_read("shared", {sums.name()});

  const StageLoops loops = stage_of(schedule, result).loops;
  std::vector<std::string> batches;
  for (std::size_t a = 0; a < loops.spatial_axes(); ++a)
    if (a != contraction.row && a != contraction.column) batches.push_back(loops.loop(loops.spatial(a)).name);
  const auto [block_y, in_y] = result.split(loops.loop(loops.spatial(contraction.row)).name, tiles.rows);
  const auto [block_x, in_x] = result.split(loops.loop(loops.spatial(contraction.column)).name, tiles.columns);
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

// Returns the bytes of shared memory of one piece of both operands.
std::int64_t piece_bytes(const GpuContraction& contraction, const GpuTiles& tiles) {
  return contraction.bytes * tiles.depth * std::max(tiles.rows, tiles.columns);
}

GpuTiles default_tiles(const GpuContraction& contraction, const Target& target) {
  GpuTiles tiles;
  if (contraction.is_large) {
    tiles.rows = tiles.columns = kWide;
    tiles.thread_rows = tiles.thread_columns = 8;
  }
  if (target.capabilities.async_copies && piece_bytes(contraction, tiles) * kCopies <= passes::kStaticSharedBytes)
    tiles.copies = kCopies;
  return tiles;
}

// Returns the tiles whose blocks are neither too large nor smaller than a warp, and whose pieces fit shared memory with
// every number of copies.
std::vector<KnobValue> tile_candidates(const GpuContraction& contraction, const Target& target) {
  const std::int64_t copies = target.capabilities.async_copies ? kCopies : 1;
  const std::int64_t most_threads = std::max(target.block_threads, default_threads(target));
  std::vector<KnobValue> candidates;
  for (const std::int64_t rows : {32, 64, 128})
    for (const std::int64_t columns : {32, 64, 128})
      for (const std::int64_t depth : {8, 16, 32})
        for (const std::int64_t thread_rows : {2, 4, 8})
          for (const std::int64_t thread_columns : {2, 4, 8}) {
            const GpuTiles tiles = {rows, columns, depth, thread_rows, thread_columns};
            if (tiles.threads() < kWarp || tiles.threads() > most_threads) continue;
            if (piece_bytes(contraction, tiles) * copies > passes::kStaticSharedBytes) continue;
            candidates.push_back({rows, columns, depth, thread_rows, thread_columns});
          }
  return candidates;
}

}  // namespace

std::optional<Match> match_gpu_contraction(const StageContext& context) {
  const auto contraction = find_gpu_contraction(context.stage);
  if (!contraction) return std::nullopt;
  const GpuTiles tiles = default_tiles(*contraction, context.target);
  if (context.target.block_threads != 0 && tiles.threads() > context.target.block_threads) return std::nullopt;
  Match match;
  match.space.knobs = {tile_knob("tile", {"rows", "columns", "depth", "thread rows", "thread columns"},
                                 tile_candidates(*contraction, context.target),
                                 {tiles.rows, tiles.columns, tiles.depth, tiles.thread_rows, tiles.thread_columns})};
  // Copies that are not asynchronous gain nothing from more buffers.
  if (context.target.capabilities.async_copies) {
    std::vector<std::int64_t> copies;
    for (std::int64_t number = 1; number <= std::max<std::int64_t>(tiles.copies, 1); ++number) copies.push_back(number);
    match.space.knobs.push_back(number_knob("copies", KnobKind::grain, std::move(copies), tiles.copies));
  }
  match.apply = [name = context.stage.name, contraction = *contraction, epilogues = context.epilogues](
                    Schedule& schedule, const Point& point) {
    const KnobValue& tile = point["tile"];
    const GpuTiles chosen = {tile[0], tile[1], tile[2],
                             tile[3], tile[4], point.values().contains("copies") ? point.number("copies") : 1};
    schedule_gpu_contraction(schedule, schedule[name], contraction, chosen, epilogues.empty() ? "" : epilogues.back());
    return Scheduled{.epilogues = epilogues};
  };
  return match;
}

}  // namespace ferry::autoschedule
