// Between what a user says about a measurement and what the protocol says.
#pragma once

#include <vector>

#include "host/session/timing.h"
#include "rpc/messages.h"

namespace ferry::session {

// Without calls.
rpc::Evaluate evaluate_request(const BenchOptions& options);
std::vector<StepTime> steps_of(const rpc::StepTimes& times);
// One a call.
std::vector<Timing> timings_of(const rpc::Evaluation& evaluation);

}  // namespace ferry::session
