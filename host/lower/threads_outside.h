// Threads that a schedule puts inside of a reduction's loops, as GEMMs for GPUs are often written:
//
//     blockIdx.x for xo                          blockIdx.x for xo
//       for ko                                     threadIdx.x for xi
//         threadIdx.x for xi          ->             for ko
//           C[xo, xi] += ...                           C[xo, xi] += ...
//
// A thread keeps its own results over the whole reduction, so the loops over threads are taken out of it. What is
// computed at such a loop is computed at the innermost loop that was around that place instead.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

namespace ferry::lower {

schedule::Stages threads_outside_reductions(schedule::Stages stages);

}  // namespace ferry::lower
