#include "host/autoschedule/blocking.h"

#include "crosscompile/analysis/access_stride.h"
#include "host/autoschedule/default_loops.h"

#include <algorithm>
#include <numeric>

namespace ferry::autoschedule {

using namespace ir;
using analysis::access_stride;
using analysis::AccessStride;
using schedule::ScheduledStage;

namespace {

// Longer sums are accumulated in blocks, so that a block of packed columns stays in the second-level cache.
constexpr std::int64_t kMaxDepth = 1536, kDepthBlock = 1024;
// Smallest block of the depth that is offered as a choice.
constexpr std::int64_t kMinDepthBlock = 128;
constexpr std::int64_t kCacheLine = 64;
// The size of a register whose lanes are factors, and the longest window whose steps share enough elements.
constexpr std::int64_t kRegisterBytes = 16, kMaxWindow = 5;
// Cost of loading a vector of NCHWc's filters, as a multiple of that of broadcasting an element of the image. Among
// tiles of 14x2, 7x4, 7x2, 4x4 and 14x1 (pixels and vectors) on AVX-512, it puts them in the order of their measured
// times.
constexpr double kBlockCost = 4;
// The same where the columns are rows of a matrix: a vector of them mostly comes from the second-level cache. Tiles
// with many rows read fewer of them. It decides between tiles that are about as good otherwise: 14x2 instead of 5x4 for
// rows of 14 pixels on AVX-512, 5x2 instead of 4x3 for 7 pixels on AVX2.
constexpr double kColumnCost = 1.15;
// Filters that so few tiles use are prefetched, because reading them from memory takes a large part of the time: bytes
// ahead, by default and as choices.
constexpr std::int64_t kFewTiles = 32, kBytesAhead = 2048, kMostBytesAhead = 8192;
// With more tiles of rows than these, those that read a panel of filters first take too small a part of the time.
constexpr std::int64_t kManyTiles = 128;

// Whether threads should share out the rows of images in blocks instead of the filters. Then each reads what it has
// itself computed in the layer before, and all read all filters. Reading what another core has just written takes
// about four times as long as reading filters that no core writes.
bool shares_images(const Contraction& contraction, const Target& target) {
  return contraction.blocks && contraction.is_column_constant && contraction.column_bytes <= l2_bytes(target) / 2 &&
         contraction.column_bytes <= 4 * contraction.row_bytes;
}

bool wants_columns_outermost(const Contraction& contraction, RegisterTile tile, std::int64_t lanes,
                             const Target& target) {
  if (shares_images(contraction, target)) return false;
  if (contraction.row_bytes <= l2_bytes(target) * 3 / 4) return true;
  if (contraction.column_bytes <= l2_bytes(target) / 2) return false;
  const auto read = [](std::int64_t bytes, std::int64_t times) {
    return static_cast<double>(bytes) * static_cast<double>(times);
  };
  const double columns_read = read(contraction.column_bytes, (contraction.rows + tile.rows - 1) / tile.rows);
  const double rows_read = read(contraction.row_bytes, contraction.columns / (tile.vectors * lanes) + 1);
  // Columns are read sequentially, and with rows outermost, a tile of rows stays in the first-level cache.
  return columns_read > 4 * rows_read;
}

// Whether the rows of a tile map to so few sets of an eight-way first-level cache that they evict one another.
bool rows_collide(const Contraction& contraction, std::int64_t tile_rows, const Target& target) {
  if (contraction.row_dimension == contraction.row_load->indices.size()) return false;
  const std::int64_t stride = stride_bytes(*contraction.row_load->buffer, contraction.row_dimension);
  if (stride < kCacheLine) return true;  // the elements along the depth are strided
  const std::int64_t sets = l1_bytes(target) / 8 / kCacheLine;
  const std::int64_t places = sets / std::gcd(sets, stride / kCacheLine);
  return tile_rows > places * 4;
}

// Whether columns that differ from call to call are read in place: they are in rows, and those of a batch are about as
// large as the first-level cache, so that packing them would take longer than it saves. Rows at a distance of a power
// of two of bytes would evict one another.
bool reads_columns_in_place(const Contraction& contraction, const Target& target) {
  constexpr std::int64_t kMostDistance = 1024;
  const Buffer& columns = *contraction.column_load->buffer;
  if (contraction.is_column_constant || contraction.is_column_inlined || !contraction.is_column_contiguous ||
      contraction.blocks || contraction.group)
    return false;
  const std::int64_t bytes =
      contraction.columns * contraction.depth * static_cast<std::int64_t>(dtype_bytes(columns.dtype));
  const std::int64_t distance = contraction.columns * static_cast<std::int64_t>(dtype_bytes(columns.dtype));
  return bytes <= l1_bytes(target) * 5 / 4 && distance % kMostDistance != 0;
}

// Returns the largest divisor between half of kDepthBlock and kDepthBlock; without one, equal blocks of at most
// kDepthBlock, the last of which may be shorter.
std::int64_t depth_block(std::int64_t depth) {
  for (std::int64_t block = kDepthBlock; block >= kDepthBlock / 2; --block)
    if (depth % block == 0) return block;
  const std::int64_t blocks = (depth + kDepthBlock - 1) / kDepthBlock;
  return (depth + blocks - 1) / blocks;
}

// Steps of the depth for which a tile reads elements of its rows together, as lanes of registers by which instructions
// multiply (codegen/llvm/memory/repeated_loads.h).
struct SharedSteps {
  std::int64_t count = 1, lanes = 1;  // the register has so many elements
  bool is_window = false;             // each step reads the next row's element of the step before
};

SharedSteps shared_steps(const ScheduledStage& stage, const Contraction& contraction, const Target& target) {
  const Capabilities& can = target.capabilities;
  if ((!can.neon_pairs && !can.neon_pairs_32bit) || contraction.group || contraction.blocks) return {};
  const Axis& inner = stage.reduction()->axes.back();
  const Load& load = *contraction.row_load;
  if (dtype_bytes(load.buffer->dtype) < 4 || access_stride(load, inner.var) != AccessStride::contiguous) return {};
  const std::int64_t extent = constant_extent(inner.extent);
  const std::int64_t lanes = kRegisterBytes / static_cast<std::int64_t>(dtype_bytes(load.buffer->dtype));
  if (contraction.row < stage.axes.size() &&
      access_stride(load, stage.axes[contraction.row].var) == AccessStride::contiguous)
    return extent <= kMaxWindow ? SharedSteps{extent, lanes, true} : SharedSteps{};
  // With half of the registers, columns of several steps do not fit beside the sums.
  if (target.vector_registers <= 16) return {};
  return {extent <= lanes ? extent : std::gcd(extent, lanes), lanes, false};
}

TiledAxes tiled_axes(const ScheduledStage& stage, const Contraction& contraction, std::int64_t lanes,
                     const Target& target) {
  const std::int64_t registers = std::max<std::int64_t>(lanes / native_lanes(stage, target), 1);
  TiledAxes axes = {.columns = contraction.columns,
                    .lanes = lanes,
                    .rows = constant_extent(stage.axes[contraction.row].extent),
                    .vector_cost = kColumnCost,
                    .counts_tails = !contraction.blocks && stage.reduction()->axes.size() == 1,
                    .vector_registers = registers};
  const SharedSteps steps = shared_steps(stage, contraction, target);
  if (steps.count > 1) {
    axes.vector_cost *= static_cast<double>(steps.count);
    if (steps.is_window) {
      axes.rows_per_register = steps.lanes;
      axes.more_rows = steps.count - 1;
      axes.column_vectors = steps.count;
    } else {
      axes.registers_per_row = 1;
      axes.row_registers = 0;
    }
  }
  if (!contraction.blocks) return axes;
  // Rows are few pixels of an image, and all of its rows share the columns, which come from the second-level cache.
  if (contraction.outer_row) axes.outer_rows = constant_extent(stage.axes[*contraction.outer_row].extent);
  axes.vector_cost = kBlockCost;
  axes.has_whole_vectors = true;
  return axes;
}

// Adds what groups take: the half registers of merged ones are registers of their own where there are 32.
TiledAxes with_group(TiledAxes axes, const Contraction& contraction) {
  if (!contraction.group) return axes;
  const bool merges_registers = contraction.group->merges;
  axes.column_vectors += merges_registers ? 1 : 0;
  axes.row_registers += contraction.group->temporaries * 2;
  return axes;
}

// Returns the bytes of columns that a tile reads in each step; 0 if they are not constant, or not worth
// prefetching.
std::int64_t prefetched_bytes(const Contraction& contraction, RegisterTile tile, std::int64_t lanes,
                              const Target& target) {
  if (!contraction.is_column_constant || !target.capabilities.row_prefetch) return 0;
  const std::int64_t bytes = tile.vectors * lanes * (contraction.group ? contraction.group->size : 1) *
                             static_cast<std::int64_t>(dtype_bytes(contraction.column_load->buffer->dtype));
  return bytes >= kCacheLine ? bytes : 0;
}

// Whether the panel of columns after the one that is read can be prefetched line by line, as many in a tile of rows as
// the sum has steps: rows are along one axis, and tiles take enough of them.
bool can_prefetch_next(const ScheduledStage& stage, const Contraction& contraction, RegisterTile tile,
                       std::int64_t lanes, const Target& target) {
  const std::int64_t bytes = prefetched_bytes(contraction, tile, lanes, target);
  return bytes % kCacheLine == 0 && bytes > 0 && !contraction.group && !contraction.blocks && !contraction.outer_row &&
         contraction.row < stage.axes.size() && stage.reduction()->axes.size() == 1 &&
         contraction.rows >= tile.rows * (bytes / kCacheLine);
}

// Groups are read again for each row of an image, from the second-level cache, where prefetching them took 1.8 times as
// long on Zen 3.
std::int64_t default_steps_ahead(const Contraction& contraction, RegisterTile tile, std::int64_t lanes,
                                 const Target& target) {
  if (contraction.group) return 0;
  const std::int64_t bytes = prefetched_bytes(contraction, tile, lanes, target);
  const bool has_few_tiles = contraction.rows <= kFewTiles * tile.rows;
  return bytes > 0 && has_few_tiles && contraction.column_bytes > l1_bytes(target) ? kBytesAhead / bytes : 0;
}

}  // namespace

Blocking default_blocking(const ScheduledStage& stage, const Contraction& contraction, std::int64_t lanes,
                          const Target& target, bool has_known_extents) {
  Blocking blocking;
  blocking.lanes = lanes;
  blocking.tile = choose_register_tile(target.vector_registers,
                                       with_group(tiled_axes(stage, contraction, lanes, target), contraction));
  blocking.packs_columns = !has_known_extents || !reads_columns_in_place(contraction, target);
  blocking.columns_outermost =
      blocking.packs_columns && wants_columns_outermost(contraction, blocking.tile, lanes, target);
  blocking.packs_rows = !blocking.columns_outermost && contraction.columns >= 4 * blocking.tile.vectors * lanes &&
                        rows_collide(contraction, blocking.tile.rows, target);
  const bool blocks_depth =
      !blocking.columns_outermost && contraction.depth > kMaxDepth && stage.reduction()->axes.size() == 1;
  blocking.depth_block = blocks_depth ? depth_block(contraction.depth) : contraction.depth;
  blocking.steps = shared_steps(stage, contraction, target).count;
  blocking.prefetches_next = blocking.columns_outermost && contraction.rows <= kManyTiles * blocking.tile.rows &&
                             contraction.column_bytes > l1_bytes(target) &&
                             can_prefetch_next(stage, contraction, blocking.tile, lanes, target);
  blocking.steps_ahead = blocking.prefetches_next ? 0 : default_steps_ahead(contraction, blocking.tile, lanes, target);
  return blocking;
}

Space space_of(const Contraction& contraction, const Blocking& by_default, const StageContext& context) {
  const ScheduledStage& stage = context.stage;
  std::vector<KnobValue> tiles;
  const TiledAxes axes = with_group(tiled_axes(stage, contraction, by_default.lanes, context.target), contraction);
  for (const RegisterTile& tile : register_tiles(context.target.vector_registers, axes))
    tiles.push_back({tile.rows, tile.vectors});
  std::vector<std::int64_t> depths = {contraction.depth};
  if (stage.reduction()->axes.size() == 1)
    for (std::int64_t block = kMinDepthBlock; block <= kDepthBlock * 2; block *= 2)
      if (block < contraction.depth) depths.push_back(block);
  Space space;
  space.knobs = {
      tile_knob("tile", {"rows", "vectors"}, std::move(tiles), {by_default.tile.rows, by_default.tile.vectors}),
      order_knob("order", {"rows_outside", "columns_outside"}, by_default.columns_outermost ? 1 : 0),
      number_knob("depth_block", KnobKind::tile, std::move(depths), by_default.depth_block),
      flag_knob("pack_columns", by_default.packs_columns)};
  if (by_default.steps > 1)
    space.knobs.push_back(number_knob("unroll", KnobKind::unroll, {1, by_default.steps}, by_default.steps));
  if (contraction.row_dimension < contraction.row_load->indices.size())
    space.knobs.push_back(flag_knob("pack_rows", by_default.packs_rows));
  if (const std::int64_t bytes = prefetched_bytes(contraction, by_default.tile, by_default.lanes, context.target);
      bytes > 0) {
    std::vector<std::int64_t> steps = {0};
    for (std::int64_t ahead = kBytesAhead / 2; ahead <= kMostBytesAhead; ahead *= 2) steps.push_back(ahead / bytes);
    space.knobs.push_back(number_knob("ahead", KnobKind::grain, std::move(steps), by_default.steps_ahead));
    if (can_prefetch_next(stage, contraction, {1, by_default.tile.vectors}, by_default.lanes, context.target))
      space.knobs.push_back(flag_knob("next_panel", by_default.prefetches_next));
  }
  if (!context.epilogues.empty())
    space.knobs.push_back(
        order_knob("epilogue", {"unrolled", "loop", "apart"}, static_cast<std::size_t>(by_default.epilogue)));
  space.knobs.push_back(for_threads(flag_knob("parallel", true)));
  return space;
}

Blocking blocking_at(const Point& point, std::int64_t lanes) {
  return {.tile = {point["tile"][0], point["tile"][1]},
          .lanes = lanes,
          .columns_outermost = point.flag("order"),
          .depth_block = point.number("depth_block"),
          .steps = point.number("unroll", 1),
          .packs_columns = point.flag("pack_columns"),
          .packs_rows = point.flag("pack_rows"),
          .steps_ahead = point.number("ahead", 0),
          .prefetches_next = point.flag("next_panel"),
          .epilogue = static_cast<EpiloguePlace>(point.number("epilogue", 0)),
          .is_parallel = point.flag("parallel")};
}

}  // namespace ferry::autoschedule
