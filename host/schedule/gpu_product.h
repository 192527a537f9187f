// Large products of matrices on a GPU: each block computes a tile of the results, fetching both operands through shared
// memory; each of its threads computes a smaller tile in registers.
//
//     blocks over rows and columns, threads over the block's tile
//       for depth by pieces
//         all threads fetch the rows' piece and the columns' piece
//         for the piece's depth: tile += row * column
//       write the tile
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/product.h"
#include "host/schedule/schedule.h"

#include <optional>
#include <string>

namespace ferry::schedule {

struct GpuTiles {
  std::size_t row = 0, column = 0;                   // axes of the stage
  std::string row_tensor, column_tensor;             // what is fetched
  std::int64_t rows = 64, columns = 64, depth = 16;  // of a block
  std::int64_t thread_rows = 4, thread_columns = 4;
  std::int64_t copies = 1;  // of pieces: all but one are fetched ahead, where copies need nobody's waiting
};

// Nothing for stages that are no products over one axis, and for those too small for tiles to pay.
std::optional<GpuTiles> find_gpu_tiles(const ScheduledStage& stage, const Target& target);

// `last`: the finishing stage, whose loops are the tiles' then; empty when there is none.
void schedule_gpu_product(Schedule& schedule, StageHandle handle, const GpuTiles& tiles, const std::string& last);

}  // namespace ferry::schedule
