#include "host/autoschedule/gpu_contraction.h"

#include "crosscompile/passes/gpu/extract_kernels.h"
#include "crosscompile/passes/memory/swizzle.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/gpu_contraction_stage.h"
#include "host/autoschedule/gpu_threads.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ferry::autoschedule {

using schedule::Schedule;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// Where copies into shared memory are asynchronous (crosscompile/passes/gpu/copy_async.h), kCopies buffers keep two of
// them in flight; they must fit the shared memory that a kernel has by default.
constexpr std::int64_t kCopies = 3;
// Number of blocks that keeps all multiprocessors of a GPU busy.
constexpr std::int64_t kManyBlocks = 256;
// Side of the larger of the two tiles that default schedules use.
constexpr std::int64_t kWide = 128;
constexpr std::int64_t kWarp = 32;

// Pieces in shared memory that are swizzled.
const std::vector<std::string> kSwizzles = {"none", "rows", "columns", "both"};

struct GpuTiles {
  std::int64_t rows = 64, columns = 64, depth = 16;  // size of a block's tile
  std::int64_t thread_rows = 4, thread_columns = 4;
  std::int64_t copies = 1;  // buffers for fetched pieces
  // The parts of a thread's tile lie apart, so that adjacent threads access adjacent elements.
  std::int64_t row_parts = 1, column_parts = 1;
  bool swizzles_rows = false, swizzles_columns = false;

  std::int64_t threads() const { return rows / thread_rows * (columns / thread_columns); }
};

// Lets all threads of the block copy a piece together, with adjacent threads copying adjacent elements.
void fetch(Schedule& schedule, StageHandle piece, const std::string& reader, const std::string& loop,
           const GpuTiles& tiles, bool swizzles) {
  piece.compute_at(reader, loop);
  const std::string all = fuse_all(piece, names_in_order(stage_of(schedule, piece).loops));
  const auto [rounds, threads] = piece.split(all, tiles.threads());
  const auto [y, x] = piece.split(threads, tiles.columns / tiles.thread_columns);
  piece.unroll(rounds).bind(y, "threadIdx.y").bind(x, "threadIdx.x");
  if (swizzles) piece.swizzle();
  if (tiles.copies > 1) piece.double_buffer(tiles.copies);
}

void schedule_gpu_contraction(Schedule& schedule, StageHandle handle, const GpuContraction& contraction,
                              const GpuTiles& tiles, const std::string& last) {
  auto [sums, result, rows, columns, batches] = make_product_stages(schedule, handle, contraction, last);
  const StageLoops loops = stage_of(schedule, result).loops;
  const auto [block_y, in_y] = result.split(loops.loop(loops.spatial(contraction.row)).name, tiles.rows);
  const auto [block_x, in_x] = result.split(loops.loop(loops.spatial(contraction.column)).name, tiles.columns);
  std::vector<std::string> parts;
  const auto divide = [&](const std::string& loop, std::int64_t side, std::int64_t count) {
    if (count == 1) return loop;
    const auto [part, rest] = result.split(loop, side / count);
    parts.push_back(part);
    return rest;
  };
  const std::string rest_y = divide(in_y, tiles.rows, tiles.row_parts);
  const std::string rest_x = divide(in_x, tiles.columns, tiles.column_parts);
  const auto [thread_y, y] = result.split(rest_y, tiles.thread_rows / tiles.row_parts);
  const auto [thread_x, x] = result.split(rest_x, tiles.thread_columns / tiles.column_parts);
  std::vector<std::string> order = batches;
  order.insert(order.end(), {block_y, block_x});
  order.insert(order.end(), parts.begin(), parts.end());
  order.insert(order.end(), {thread_y, thread_x, y, x});
  result.reorder(order);
  if (!batches.empty()) result.bind(fuse_all(result, batches), "blockIdx.z");
  result.bind(block_y, "blockIdx.y").bind(block_x, "blockIdx.x");
  for (const std::string& part : parts) result.bind(part, "vthread");
  result.bind(thread_y, "threadIdx.y").bind(thread_x, "threadIdx.x").unroll(y).unroll(x);

  sums.compute_at(result.name(), thread_x);
  if (!last.empty()) sums.set_scope("local");
  const StageLoops sum_loops = stage_of(schedule, sums).loops;
  const auto [pieces, step] = sums.split(sum_loops.loop(sum_loops.reduction(0)).name, tiles.depth);
  std::vector<std::string> sum_order{pieces, step};
  for (std::size_t a = 0; a < sum_loops.spatial_axes(); ++a)
    sum_order.push_back(sum_loops.loop(sum_loops.spatial(a)).name);
  sums.reorder(sum_order).unroll(step);
  fetch(schedule, rows, sums.name(), pieces, tiles, tiles.swizzles_rows);
  fetch(schedule, columns, sums.name(), pieces, tiles, tiles.swizzles_columns);
}

// Returns the bytes of shared memory of one piece of both operands.
std::int64_t piece_bytes(const GpuContraction& contraction, const GpuTiles& tiles) {
  return (contraction.rows.bytes() + contraction.columns.bytes()) * tiles.depth * std::max(tiles.rows, tiles.columns);
}

GpuTiles default_tiles(const GpuContraction& contraction, const Target& target) {
  GpuTiles tiles;
  // Whether there are enough large tiles for all multiprocessors.
  if (contraction.row_extent / kWide * (contraction.column_extent / kWide) >= kManyBlocks) {
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

// Whether rows of an operand's piece can be swizzled: they must be as long as the tile, also where a size is known.
bool can_swizzle(const GpuOperand& operand, std::int64_t extent, std::int64_t side, std::int64_t depth_extent,
                 std::int64_t depth) {
  switch (operand.contiguous) {
    case GpuOperand::Contiguous::side: return extent % side == 0 && passes::can_swizzle(operand.type, side);
    case GpuOperand::Contiguous::depth: return depth_extent % depth == 0 && passes::can_swizzle(operand.type, depth);
    case GpuOperand::Contiguous::other: return false;
  }
  return false;
}

// Returns the tiles of a point, with as many parts as a thread's tile has elements, and without swizzled rows whose
// lengths are no powers of two.
GpuTiles tiles_at(const Point& point, const GpuContraction& contraction) {
  const KnobValue &tile = point["tile"], &parts = point["vthreads"];
  GpuTiles tiles = {tile[0], tile[1], tile[2], tile[3], tile[4], point.number("copies", 1)};
  tiles.row_parts = std::min(parts[0], tiles.thread_rows);
  tiles.column_parts = std::min(parts[1], tiles.thread_columns);
  const std::string& swizzle = kSwizzles[static_cast<std::size_t>(point.number("swizzle"))];
  tiles.swizzles_rows =
      (swizzle == "rows" || swizzle == "both") &&
      can_swizzle(contraction.rows, contraction.row_extent, tiles.rows, contraction.depth_extent, tiles.depth);
  tiles.swizzles_columns =
      (swizzle == "columns" || swizzle == "both") &&
      can_swizzle(contraction.columns, contraction.column_extent, tiles.columns, contraction.depth_extent, tiles.depth);
  return tiles;
}

// All divide the tiles of threads, or are larger.
std::vector<KnobValue> part_candidates() {
  std::vector<KnobValue> candidates;
  for (const std::int64_t rows : {1, 2, 4})
    for (const std::int64_t columns : {1, 2, 4}) candidates.push_back({rows, columns});
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
  match.space.knobs.push_back(tile_knob("vthreads", {"rows", "columns"}, part_candidates(), {1, 1}));
  match.space.knobs.push_back(order_knob("swizzle", kSwizzles, 0));
  match.apply = [name = context.stage.name, contraction = *contraction, epilogues = context.epilogues](
                    Schedule& schedule, const Point& point) {
    schedule_gpu_contraction(schedule, schedule[name], contraction, tiles_at(point, contraction),
                             epilogues.empty() ? "" : epilogues.back());
    return Scheduled{.epilogues = epilogues};
  };
  return match;
}

}  // namespace ferry::autoschedule
