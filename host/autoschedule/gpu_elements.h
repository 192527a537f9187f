// Schedules element-wise stages on a GPU.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

//     for y: for x                     blockIdx.x for y, blockIdx.y for x by threads * elements
//       B[y,x] = f(A[y,x])     ->        threadIdx.x
//                                          for elements (unrolled), a block's width apart
//
// Stages whose elements all lie at the same place in every tensor, or whose rows are short, run over one fused axis.
//
// Knobs: `threads` of a block; `elements` of a thread.
std::optional<Match> match_gpu_elements(const StageContext& context);

}  // namespace ferry::autoschedule
