// Schedules reductions of any kind: a tile of results, or of partial results, is kept in registers.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

//     for y                         for y by rows of a tile, for x by vectors of a tile
//       for x                         for k
//         for k              ->         for the tile's rows and vectors (unrolled)
//           C[y,x] += ...                 C[row, lanes] += ...
//
// Vectors run along the axis with the most contiguous accesses. If that is an axis of the reduction, the lanes hold
// partial results. The rows run along an axis whose results share loads; without one a tile has a single row. The
// loops of a small window are unrolled, and so is a short last one for which vectors are the same.
//
// Knobs: `tile`, the number of rows and of vectors; `lanes`; `unroll_window`, for small windows; `vector`, the axis of
// the vectors, if there are several.
std::optional<Match> match_reduction(const StageContext& context);

}  // namespace ferry::autoschedule
