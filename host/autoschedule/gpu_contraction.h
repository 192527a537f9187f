// Schedules large matrix products on a GPU: each block computes a tile of the results and fetches both operands through
// shared memory; each of its threads computes a smaller tile in registers.
//
//     blocks over rows and columns, threads over the block's tile
//       for depth by pieces
//         all threads fetch the rows' piece and the columns' piece
//         for the piece's depth: tile += row * column
//       write the tile
#pragma once

#include "crosscompile/target/target.h"
#include "host/autoschedule/contraction.h"
#include "host/schedule/schedule.h"

#include <optional>
#include <string>

namespace ferry::schedule {

struct GpuTiles {
  std::size_t row = 0, column = 0;                   // axes of the stage
  std::string row_tensor, column_tensor;             // the operands that are fetched
  std::int64_t rows = 64, columns = 64, depth = 16;  // size of a block's tile
  std::int64_t thread_rows = 4, thread_columns = 4;
  std::int64_t copies = 1;  // buffers for fetched pieces: all but one are fetched ahead, if copies are asynchronous
};

// Returns nothing for stages that are not products over one axis, and for those too small for tiling to pay off.
std::optional<GpuTiles> find_gpu_tiles(const ScheduledStage& stage, const Target& target);

// `last` is the epilogue, whose loops then become the tiles'; empty when there is none.
void schedule_gpu_contraction(Schedule& schedule, StageHandle handle, const GpuTiles& tiles, const std::string& last);

}  // namespace ferry::schedule
