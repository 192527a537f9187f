// Schedules large matrix products on a GPU: each block computes a tile of the results and fetches both operands through
// shared memory; each of its threads computes a smaller tile in registers.
//
//     blocks over rows and columns, threads over the block's tile
//       for depth by pieces
//         all threads fetch the rows' piece and the columns' piece
//         for the piece's depth: tile += row * column
//       write the tile
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// Matches contractions over one axis that are not too small for tiling to pay off. The epilogue's loops, if there is
// one, become the tiles'.
//
// Knobs: `tile`, the rows and columns of a block's tile, the depth of the pieces fetched at once, and the rows and
// columns of a thread's tile; `copies`, the number of buffers for fetched pieces, if the GPU copies asynchronously: all
// but one of them are fetched ahead; `vthreads`, the number of parts of a thread's tile along rows and columns, which
// lie apart in the block's tile, so that adjacent threads access adjacent elements; `swizzle`, the operands whose
// pieces are swizzled, so that threads which read down a column access different banks.
std::optional<Match> match_gpu_contraction(const StageContext& context);

}  // namespace ferry::autoschedule
