// Schedules products of rows that are contiguous along the sum with few columns, fewer than a vector has lanes: vectors
// of results would be mostly empty, or gather their elements. Vectors lie along the sum instead, and a tile of rows and
// columns shares what it loads.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

//     pack the columns along the sum
//     for rows by tile, for columns by tile
//       for depth by vector
//         for the tile's rows and columns (unrolled): the vector of partial results += row's vector * column's vector
//       add up the vectors
//
// Knobs: `tile`, rows and columns whose partial results are in registers; `pack_columns`.
std::optional<Match> match_inner_products(const StageContext& context);

}  // namespace ferry::autoschedule
