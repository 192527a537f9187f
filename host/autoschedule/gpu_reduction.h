// Schedules reductions of any kind on a GPU: a thread for each result.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

//     for y: for x                  blockIdx.x, threadIdx.x for y by rows and x
//       for k                         for k
//         C[y,x] += ...       ->        for rows (unrolled)
//                                         C[row,x] += ...
//
// A thread computes several rows if they share loads. With an epilogue there is one thread for each of its results,
// and the reduction is computed in it.
//
// Knobs: `threads` of a block; `rows` of a thread, if there are any that share loads.
std::optional<Match> match_gpu_reduction(const StageContext& context);

}  // namespace ferry::autoschedule
