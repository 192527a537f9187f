// Schedules products of float16 or bfloat16 on a GPU's tensor cores (docs/schedules.md, tensorize): each block fetches
// pieces of both operands into shared memory, and each of its warps multiplies a part of them.
//
//     blocks over rows and columns, warps over the block's tile
//       for depth by pieces
//         all threads fetch the rows' piece and the columns' piece, 16 bytes at a time
//         for 16 steps each: the warp's tile += rows * columns
//       write the tile
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// Matches contractions of two narrow floats of one type, added up in float32, whose sizes are the same in every call:
// tiles must be whole.
//
// Knobs: `tile`, the rows, columns and depth of a block's pieces and the rows and columns of a warp's tile, all of
// which divide the sizes; `copies`, the number of buffers for pieces; `swizzle`, whether these are swizzled.
std::optional<Match> match_gpu_tensor_cores(const StageContext& context);

// Whether tensor cores are used at all. By default they are not.
Space space_of_tensor_cores();

}  // namespace ferry::autoschedule
