// Vectorises element-wise stages.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

//     for y                             for y
//       for x                             for x by vectors
//         B[y,x] = f(A[y,x])     ->         for vectors (unrolled)
//                                             B[y, lanes of x] = f(A[y, lanes of x])
//
// Knobs: `vector`, the vectorised axis; `lanes`; `vectors`, the number of vectors in one iteration.
std::optional<Match> match_injective(const StageContext& context);

}  // namespace ferry::autoschedule
