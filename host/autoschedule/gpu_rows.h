// Schedules reductions of contiguous rows on a GPU.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

//     for y                       blockIdx.x for y
//       for k                       threadIdx.x: part = the sum of every threads-th A[y,k]
//         C[y] += A[y,k]    ->      C[y] = the sum of all parts, in a tree
//
// Matches where memory is contiguous along the reduction but not along the results: the threads of a block then read
// the elements of one result together.
//
// Knobs: `threads` of a block.
std::optional<Match> match_gpu_rows(const StageContext& context);

}  // namespace ferry::autoschedule
