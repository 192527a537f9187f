// Hoists thread loops that a schedule puts inside a reduction's loops, as GEMMs for GPUs are often written:
//
//     blockIdx.x for xo                          blockIdx.x for xo
//       for ko                                     threadIdx.x for xi
//         threadIdx.x for xi          ->             for ko
//           C[xo, xi] += ...                           C[xo, xi] += ...
//
// A thread keeps its own results over the whole reduction, so the thread loops are moved outside it. A stage computed
// at such a loop is computed instead at the innermost loop that was around that position.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <optional>

namespace ferry::lower {

// Returns nothing if no loop moves.
std::optional<schedule::Stages> threads_outside_reductions(const schedule::Stages& stages);

}  // namespace ferry::lower
