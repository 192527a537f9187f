// Measures a module that is compared with none.
#pragma once

#include "host/gate/run/measure_pair.h"

namespace ferry::gate {

// Returns the median of a call's time over a few processes, each with another code layout. Throws SideFailed for the
// current side if the kernel fails, and Error as measure_process().
double seconds_alone(const OpenSession& open, const RunSettings& measured, const MeasuredSide& side,
                     stats::Random& random, const Observer& observer);

}  // namespace ferry::gate
