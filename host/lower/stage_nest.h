// Builds the loop nest of one stage: one that is not a reduction stores each value in the innermost loop, and
// reduction_nest.h describes the others.
#pragma once

#include "host/lower/nest_loops.h"

namespace ferry::lower {

// `around` are the loops of other stages in which this one, which is among the nests, is computed.
ir::Stmt stage_nest(const Nest& nest, const Nests& nests, const std::vector<schedule::Loop>& around,
                    const LoopBody& loop_body);

}  // namespace ferry::lower
