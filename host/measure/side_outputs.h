// Runs one side of a comparison for what it computes, before its times say anything.
#pragma once

#include <string>
#include <vector>

#include "ferry/kernel/observer.h"
#include "ferry/kernel/open_session.h"
#include "host/measure/measured_side.h"
#include "host/verify/kernel_outputs.h"

namespace ferry::bench {

// Calls the side once, in a session of its own: nothing is left there of what the other side has computed. `warnings`,
// which may be null, is told why a comparison of the outputs shows little. Throws KernelFailed, and Error as
// measure_process().
verify::Outputs outputs_of_side(const OpenSession& open, const RunSettings& settings, const MeasuredSide& side,
                                bool guard_tensors, const Observer& observer,
                                std::vector<std::string>* warnings = nullptr);

}  // namespace ferry::bench
