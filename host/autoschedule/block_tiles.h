// The loops and constants of sums of sums of blocks, which block_sums and block_dots schedule: a tile of sums of a
// block, and one of totals, in whose loop over blocks the former is computed.
#pragma once

#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "host/autoschedule/register_tile.h"
#include "host/autoschedule/rule.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ferry::autoschedule {

inline constexpr std::size_t kNoAxis = std::numeric_limits<std::size_t>::max();

struct BlockSums {
  std::string sums, total;
  std::size_t block = 0;       // axis of the sums over which the total goes
  std::size_t rows = kNoAxis;  // axis of the sums
  std::int64_t row_extent = 0, column_extent = 0, lanes = 1;
  std::vector<std::string> epilogues;  // stages that may be computed in the loops of the total
  // Large constants that the total reads in vectors along its last axis, which may be prefetched.
  std::vector<ir::BufferRef> constants_of_total;

  TiledAxes tiled_axes() const;
};

// Returns the sum of the stage's sums of blocks, or nothing if the stage has none: it is a sum, with one reader, which
// adds up its elements along one of its axes.
std::optional<std::string> sum_of_blocks(const schedule::Stages& stages, const schedule::ScheduledStage& stage,
                                         const Target& target);

// Whether vectors of sums of blocks go along the last axis.
bool has_vectors_of_columns(const schedule::ScheduledStage& sums, const Target& target);

// Returns the sums of blocks that the stage computes; nothing if sum_of_blocks() finds none.
std::optional<BlockSums> find_block_sums(const StageContext& context);

// Returns the large constants that an expression reads in vectors along this axis.
std::vector<ir::BufferRef> streamed_constants(const ir::Expr& value, const ir::Expr& along,
                                              const StageContext& context);

// The knob `tile`; for whole tiles of columns, whose number is known, only vectors that divide it.
SpaceKnob block_tile_knob(const TiledAxes& axes, const Target& target, bool has_whole_tiles = false);
// The knob `ahead`, bytes by which constants are prefetched ahead. By default they are if few tiles use them, because
// reading them takes a large part of the time.
SpaceKnob ahead_knob(const TiledAxes& axes, const KnobValue& tile);

// The loops over the results of a stage: those around the reduction, and those of a tile, of which the last goes over
// the lanes of a vector.
struct TiledLoops {
  std::vector<std::string> outside, tile;

  // Returns all loops in order, with these around the tile.
  std::vector<std::string> around(const std::vector<std::string>& reduction) const;
};
TiledLoops split_tiles(const schedule::Schedule& schedule, schedule::StageHandle handle, std::size_t rows,
                       RegisterTile tile, std::int64_t lanes);

// Unrolls the loops of the tile but the last.
void unroll_tile(schedule::StageHandle handle, const TiledLoops& loops);

std::vector<std::string> reduction_loops(const schedule::Schedule& schedule, const schedule::StageHandle& handle);

// Splits and orders the loops of the total; returns the loop over blocks.
std::string schedule_total(schedule::Schedule& schedule, const BlockSums& choice, RegisterTile tile);

// Prefetches a tile's columns of the tensors so many bytes ahead in each iteration of the loop.
void prefetch_columns(schedule::StageHandle handle, const std::vector<ir::BufferRef>& tensors, const std::string& loop,
                      std::int64_t columns, std::int64_t bytes_ahead);

}  // namespace ferry::autoschedule
