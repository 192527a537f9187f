#include "host/autoschedule/blocked_contraction.h"

#include "crosscompile/ir/substitute.h"
#include "host/autoschedule/default_loops.h"
#include "host/autoschedule/packing.h"
#include "host/autoschedule/register_tile.h"

#include <algorithm>
#include <numeric>

namespace ferry::schedule {

using namespace ir;

namespace {

// Fewer rows would reuse packed columns too rarely. Columns packed before the call are worthwhile from two rows on.
constexpr std::int64_t kMinRows = 32, kMinRowsOfConstants = 2;
constexpr std::int64_t kMinDepth = 8;
// Longer sums are accumulated in blocks, so that a block of packed columns stays in the second-level cache.
constexpr std::int64_t kMaxDepth = 1536, kDepthBlock = 1024;
constexpr std::int64_t kCacheLine = 64;

bool columns_outside(const Contraction& contraction, RegisterTile tile, std::int64_t lanes, const Target& target) {
  if (contraction.row_bytes <= l2_bytes(target) * 3 / 4) return true;
  if (contraction.column_bytes <= l2_bytes(target) / 2) return false;
  const auto read = [](std::int64_t bytes, std::int64_t times) {
    return static_cast<double>(bytes) * static_cast<double>(times);
  };
  const double columns_read = read(contraction.column_bytes, (contraction.rows + tile.rows - 1) / tile.rows);
  const double rows_read = read(contraction.row_bytes, contraction.columns / (tile.vectors * lanes) + 1);
  // Columns are read sequentially, and with rows outside a tile of rows stays in the first-level cache.
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

// Returns the largest divisor between half of kDepthBlock and kDepthBlock; without one, equal blocks of at most
// kDepthBlock, the last of which may be shorter.
std::int64_t depth_block(std::int64_t depth) {
  for (std::int64_t block = kDepthBlock; block >= kDepthBlock / 2; --block)
    if (depth % block == 0) return block;
  const std::int64_t blocks = (depth + kDepthBlock - 1) / kDepthBlock;
  return (depth + blocks - 1) / blocks;
}

// The stage's loops grouped by what they iterate over, outermost first.
struct Loops {
  std::vector<std::string> batches, rows, depth, tile;
  std::string depth_block, columns;
};

// Splits the loops of the product's stage, or of a stage with the same axes.
Loops split_loops(const ScheduledStage& stage, const StageLoops& loops, StageHandle handle,
                  const Contraction& contraction, RegisterTile tile, std::int64_t lanes, bool with_depth_blocks) {
  Loops result;
  const bool is_contraction = handle.name() == stage.name;
  const std::vector<Axis> depth = is_contraction ? stage.reduction()->axes : std::vector<Axis>{};
  const auto depends = [&](std::size_t axis) {
    return std::any_of(contraction.column_load->indices.begin(), contraction.column_load->indices.end(),
                       [&](const Expr& index) { return uses_var(index, stage.axes[axis].var); });
  };
  std::string rows_inside;
  for (std::size_t a = 0; a < stage.axes.size(); ++a) {
    const std::string name = loops.loop(loops.spatial(a)).name;
    if (a == contraction.column) continue;
    if (a == contraction.row && tile.rows > 1) {
      const auto [outside, inside] = handle.split(name, tile.rows);
      result.rows.push_back(outside);
      rows_inside = inside;
    } else if (depends(a)) {
      result.batches.push_back(name);
    } else {
      result.rows.push_back(name);
    }
  }
  for (std::size_t a = 0; a < depth.size(); ++a) {
    const std::string name = loops.loop(loops.reduction(a)).name;
    if (with_depth_blocks) {
      const auto [outside, inside] = handle.split(name, depth_block(contraction.depth));
      result.depth_block = outside;
      result.depth.push_back(inside);
    } else {
      result.depth.push_back(name);
    }
  }
  const auto [columns, inside] = handle.split(loops.loop(loops.spatial(contraction.column)).name, tile.vectors * lanes);
  result.columns = columns;
  if (!rows_inside.empty()) result.tile.push_back(rows_inside);
  if (tile.vectors > 1) {
    const auto [vectors, lane] = handle.split(inside, lanes);
    result.tile.push_back(vectors);
    result.tile.push_back(lane);
  } else {
    result.tile.push_back(inside);
  }
  return result;
}

template <class... Lists>
std::vector<std::string> joined(const Lists&... lists) {
  std::vector<std::string> all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

RegisterTile tile_of(const ScheduledStage& stage, const Contraction& contraction, std::int64_t lanes,
                     const Target& target) {
  const std::int64_t rows = constant_extent(stage.axes[contraction.row].extent);
  return choose_register_tile(target.vector_registers, rows, true, contraction.columns, lanes);
}

// Whether long sums are accumulated in blocks, so that a block's part of the columns stays in the cache.
bool blocks_depth(const ScheduledStage& stage, const Contraction& contraction, bool columns_outside) {
  return !columns_outside && contraction.depth > kMaxDepth && stage.reduction()->axes.size() == 1;
}

}  // namespace

bool wants_blocks(const Contraction& contraction, std::int64_t lanes, const Target& target) {
  const std::int64_t min_rows = contraction.is_column_constant ? kMinRowsOfConstants : kMinRows;
  if (lanes < 2 || contraction.columns < lanes || contraction.rows < min_rows || contraction.depth < kMinDepth)
    return false;
  return !contraction.is_column_contiguous || contraction.column_bytes > l1_bytes(target);
}

bool blocks_depth(const ScheduledStage& stage, const Contraction& contraction, std::int64_t lanes,
                  const Target& target) {
  return blocks_depth(stage, contraction,
                      columns_outside(contraction, tile_of(stage, contraction, lanes, target), lanes, target));
}

void schedule_blocked(Schedule& schedule, StageHandle handle, const Contraction& found, std::int64_t lanes,
                      const Target& target, const std::string& epilogue) {
  const Contraction contraction = found;
  const ScheduledStage& stage = stage_of(schedule, handle);
  const RegisterTile tile = tile_of(stage, contraction, lanes, target);
  const bool outside = columns_outside(contraction, tile, lanes, target);
  const bool packs_rows =
      !outside && contraction.columns >= 4 * tile.vectors * lanes && rows_collide(contraction, tile.rows, target);

  const Packing columns{contraction.column_load, contraction.column_dimension, tile.vectors * lanes, lanes};
  const Packing rows{contraction.row_load, contraction.row_dimension, tile.rows, lanes};
  const std::string packed_columns = pack(schedule, handle.name(), columns);
  const std::string packed_rows = packs_rows ? pack(schedule, handle.name(), rows) : "";

  const auto make_loops = [&](StageHandle of) {
    const Loops loops = split_loops(stage, StageLoops(stage_of(schedule, of).loops), of, contraction, tile, lanes,
                                    blocks_depth(stage, contraction, outside));
    const std::vector<std::string> column_loop = {loops.columns};
    const auto depth_block = loops.depth_block.empty() ? std::vector<std::string>{} : std::vector{loops.depth_block};
    of.reorder(outside ? joined(loops.batches, column_loop, loops.rows, loops.depth, loops.tile)
                       : joined(loops.batches, depth_block, loops.rows, column_loop, loops.depth, loops.tile));
    for (std::size_t i = 0; i + 1 < loops.tile.size(); ++i) of.unroll(loops.tile[i]);
    of.vectorize(loops.tile.back());
    return loops;
  };
  Loops loops = make_loops(handle);
  // The stage in whose loops the packed operands and the product's tiles are computed.
  StageHandle around = epilogue.empty() ? handle : schedule[epilogue];
  if (!epilogue.empty()) {
    loops = make_loops(around);
    handle.compute_at(epilogue, outside ? loops.rows.back() : loops.columns);
  }
  // Root stages that depend on constants alone are computed once, so packing them stays there.
  const bool packs_inside = outside && !contraction.is_column_constant;
  if (packs_inside) schedule[packed_columns].compute_at(around.name(), loops.columns);
  if (packs_rows) schedule[packed_rows].compute_at(around.name(), loops.rows.back());

  const StageLoops& outer = stage_of(schedule, around).loops;
  for (const std::string& name :
       outside ? joined(loops.batches, std::vector{loops.columns}) : joined(loops.batches, loops.rows)) {
    if (is_constant(outer.loop(*outer.find(name)).extent, 1)) continue;
    around.parallel(name);
    break;
  }
  if (!packs_inside) make_parallel(schedule, schedule[packed_columns]);
}

}  // namespace ferry::schedule
