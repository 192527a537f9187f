#include "host/autoschedule/gpu_tensor_cores.h"

#include "crosscompile/analysis/loads.h"
#include "crosscompile/passes/gpu/extract_kernels.h"
#include "crosscompile/passes/memory/swizzle.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/gpu_contraction_stage.h"
#include "host/autoschedule/gpu_threads.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ferry::autoschedule {

using namespace ir;
using schedule::Schedule;
using schedule::ScheduledStage;
using schedule::StageHandle;
using schedule::StageLoops;

namespace {

// The instruction's rows, columns and depth; half of the rows, and a fourth of the columns, are one thread's.
constexpr std::int64_t kMmaRows = 16, kMmaColumns = 8, kMmaDepth = 16;
constexpr std::int64_t kMmaThreadRows = 8, kMmaThreadColumns = 2, kMmaThreadsAlongColumns = 4;
constexpr std::int64_t kWarpThreads = 32;
constexpr std::int64_t kMostWarps = 8;
// Sums of a thread: more do not fit its registers.
constexpr std::int64_t kMostSums = 128;
constexpr std::int64_t kCopiedAtOnce = 8;  // elements that a thread copies at once: 16 bytes
constexpr std::int64_t kMostCopies = 3;    // as in gpu_contraction

struct WarpTiles {
  std::int64_t rows, columns, depth;     // a block's pieces
  std::int64_t warp_rows, warp_columns;  // a warp's tile
  std::int64_t copies = 1;
  bool swizzles = false;

  std::int64_t threads() const { return rows / warp_rows * (columns / warp_columns) * kWarpThreads; }
};

// Returns the narrow float of `f32(x) * f32(y)`, if x is read from the operand of rows; float32 otherwise.
DType multiplied_type(const Reduce& reduce, const GpuContraction& contraction) {
  const auto* product = reduce.sources[0].as<Binary>();
  if (product == nullptr || product->op != BinaryOp::mul) return DType::f32;
  const auto loaded = [](const Expr& factor) {
    const auto* converted = factor.as<Cast>();
    return converted == nullptr || converted->type.code != DType::f32 ? nullptr : converted->value.as<Load>();
  };
  const Load *left = loaded(product->left), *right = loaded(product->right);
  if (left == nullptr || right == nullptr || left->buffer->name != contraction.rows.tensor) return DType::f32;
  const DType type = left->buffer->dtype;
  return Type(type).is_narrow_float() && right->buffer->dtype == type ? type : DType::f32;
}

bool is_fixed_axis(const Axis& axis) { return as_int(axis.extent) != nullptr; }

// Whether the extents of rows, columns and depth are constants wherever the schedule must be legal.
bool has_fixed_extents(const StageContext& context, const GpuContraction& contraction) {
  const ScheduledStage* stage = &context.stage;
  if (context.at_any_size != nullptr) stage = find_stage(*context.at_any_size, context.stage.name);
  return stage != nullptr && stage->reduction() != nullptr && is_fixed_axis(stage->axes[contraction.row]) &&
         is_fixed_axis(stage->axes[contraction.column]) && is_fixed_axis(stage->reduction()->axes[0]);
}

bool has_swizzled_rows(const GpuOperand& operand, std::int64_t side, std::int64_t depth) {
  return passes::can_swizzle(operand.type, operand.contiguous == GpuOperand::Contiguous::side ? side : depth);
}

std::vector<KnobValue> warp_tile_candidates(const GpuContraction& contraction, const Target& target) {
  const std::int64_t most_threads =
      target.block_threads == 0 ? kMostWarps * kWarpThreads : std::min(kMostWarps * kWarpThreads, target.block_threads);
  const std::int64_t bytes = contraction.rows.bytes();
  std::vector<KnobValue> candidates;
  for (const std::int64_t rows : {32, 64, 128, 256})
    for (const std::int64_t columns : {32, 64, 128, 256})
      for (const std::int64_t depth : {16, 32, 64})
        for (const std::int64_t warp_rows : {32, 64})
          for (const std::int64_t warp_columns : {16, 32, 64}) {
            if (warp_rows > rows || warp_columns > columns) continue;
            if (contraction.row_extent % rows != 0 || contraction.column_extent % columns != 0 ||
                contraction.depth_extent % depth != 0)
              continue;
            const WarpTiles tiles = {rows, columns, depth, warp_rows, warp_columns};
            if (tiles.threads() > most_threads || warp_rows * warp_columns / kWarpThreads > kMostSums) continue;
            // All threads copy equally much.
            const std::int64_t at_once = kCopiedAtOnce * tiles.threads();
            if (rows * depth % at_once != 0 || columns * depth % at_once != 0) continue;
            if ((rows + columns) * depth * bytes * kMostCopies > passes::kStaticSharedBytes) continue;
            candidates.push_back({rows, columns, depth, warp_rows, warp_columns});
          }
  return candidates;
}

// Returns the candidate whose pieces are used most often, in the fewest steps.
KnobValue default_warp_tile(const std::vector<KnobValue>& candidates) {
  const auto is_worse = [](const KnobValue& a, const KnobValue& b) {
    const auto reuse = [](const KnobValue& tile) {
      return std::pair(tile[0] * tile[1] * 256 / (tile[0] + tile[1]), tile[3] * tile[4] * 256 / (tile[3] + tile[4]));
    };
    return std::pair(reuse(a), a[2]) < std::pair(reuse(b), b[2]);
  };
  return *std::ranges::max_element(candidates, is_worse);
}

void fetch_piece(Schedule& schedule, StageHandle piece, const std::string& reader, const std::string& loop,
                 const WarpTiles& tiles) {
  piece.compute_at(reader, loop);
  const std::string all = fuse_all(piece, names_in_order(stage_of(schedule, piece).loops));
  const auto [copies, lane] = piece.split(all, kCopiedAtOnce);
  const auto [rounds, threads] = piece.split(copies, tiles.threads());
  const auto [warp, in_warp] = piece.split(threads, kWarpThreads);
  const auto [y, x] = piece.split(in_warp, kMmaThreadsAlongColumns);
  piece.unroll(rounds).bind(warp, "threadIdx.z").bind(y, "threadIdx.y").bind(x, "threadIdx.x").vectorize(lane);
  if (tiles.swizzles) piece.swizzle();
  if (tiles.copies > 1) piece.double_buffer(tiles.copies);
}

void schedule_tensor_cores(Schedule& schedule, StageHandle handle, const GpuContraction& contraction,
                           const WarpTiles& tiles, const std::string& last) {
  auto [sums, result, rows, columns, batches] = make_product_stages(schedule, handle, contraction, last);
  const StageLoops loops = stage_of(schedule, result).loops;
  const auto [block_y, in_block_y] = result.split(loops.loop(loops.spatial(contraction.row)).name, tiles.rows);
  const auto [warp_y, in_warp_y] = result.split(in_block_y, tiles.warp_rows);
  const auto [row_piece, in_rows] = result.split(in_warp_y, kMmaRows);
  const auto [half, y] = result.split(in_rows, kMmaThreadRows);
  const auto [block_x, in_block_x] = result.split(loops.loop(loops.spatial(contraction.column)).name, tiles.columns);
  const auto [warp_x, in_warp_x] = result.split(in_block_x, tiles.warp_columns);
  const auto [column_piece, in_columns] = result.split(in_warp_x, kMmaColumns);
  const auto [x, pair] = result.split(in_columns, kMmaThreadColumns);
  std::vector<std::string> order = batches;
  order.insert(order.end(), {block_y, block_x, warp_y, warp_x, row_piece, half, column_piece, y, x, pair});
  result.reorder(order);
  if (!batches.empty()) result.bind(fuse_all(result, batches), "blockIdx.z");
  result.bind(block_y, "blockIdx.y").bind(block_x, "blockIdx.x");
  result.bind(fuse_all(result, {warp_y, warp_x}), "threadIdx.z");
  result.bind(row_piece, "vthread").bind(half, "vthread").bind(column_piece, "vthread");
  result.bind(y, "threadIdx.y").bind(x, "threadIdx.x").vectorize(pair);

  sums.compute_at(result.name(), x);
  if (!last.empty()) sums.set_scope("local");
  const StageLoops sum_loops = stage_of(schedule, sums).loops;
  const auto [pieces, in_piece] = sums.split(sum_loops.loop(sum_loops.reduction(0)).name, tiles.depth);
  const auto [steps, step] = sums.split(in_piece, kMmaDepth);
  std::vector<std::string> sum_order, tile;
  for (std::size_t a = 0; a < sum_loops.spatial_axes(); ++a) {
    const bool is_tiled = a == contraction.row || a == contraction.column;
    (is_tiled ? tile : sum_order).push_back(sum_loops.loop(sum_loops.spatial(a)).name);
  }
  sum_order.insert(sum_order.end(), {pieces, steps, step});
  sum_order.insert(sum_order.end(), tile.begin(), tile.end());
  sums.reorder(sum_order).unroll(steps).tensorize(step, "mma_m16n8k16");
  fetch_piece(schedule, rows, sums.name(), pieces, tiles);
  fetch_piece(schedule, columns, sums.name(), pieces, tiles);
}

}  // namespace

Space space_of_tensor_cores() { return {{flag_knob("tensor_cores", false)}}; }

std::optional<Match> match_gpu_tensor_cores(const StageContext& context) {
  if (!context.target.capabilities.tensor_cores) return std::nullopt;
  const auto contraction = find_gpu_contraction(context.stage);
  if (!contraction || contraction->row_extent == 0 || contraction->column_extent == 0 || contraction->depth_extent == 0)
    return std::nullopt;
  if (multiplied_type(*context.stage.reduction(), *contraction) == DType::f32) return std::nullopt;
  if (!has_fixed_extents(context, *contraction)) return std::nullopt;
  for (const GpuOperand* operand : {&contraction->rows, &contraction->columns})
    if (!operand->is_plain || operand->contiguous == GpuOperand::Contiguous::other) return std::nullopt;
  std::vector<KnobValue> candidates = warp_tile_candidates(*contraction, context.target);
  if (candidates.empty()) return std::nullopt;
  const KnobValue chosen = default_warp_tile(candidates);
  Match match;
  match.space.knobs = {
      tile_knob("tile", {"rows", "columns", "depth", "warp rows", "warp columns"}, std::move(candidates), chosen),
      number_knob("copies", KnobKind::grain, {1, 2, kMostCopies}, kMostCopies), flag_knob("swizzle", true)};
  match.apply = [name = context.stage.name, contraction = *contraction, epilogues = context.epilogues](
                    Schedule& schedule, const Point& point) {
    const KnobValue& tile = point["tile"];
    WarpTiles tiles = {tile[0], tile[1], tile[2], tile[3], tile[4], point.number("copies")};
    tiles.swizzles = point.flag("swizzle") && has_swizzled_rows(contraction.rows, tiles.rows, tiles.depth) &&
                     has_swizzled_rows(contraction.columns, tiles.columns, tiles.depth);
    schedule_tensor_cores(schedule, schedule[name], contraction, tiles, epilogues.empty() ? "" : epilogues.back());
    return Scheduled{.epilogues = epilogues};
  };
  return match;
}

}  // namespace ferry::autoschedule
