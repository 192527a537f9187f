// Between what a user says about a measurement and what the protocol says.
#pragma once

#include <vector>

#include "host/session/timing.h"
#include "rpc/messages.h"

namespace ferry::session {

// Without calls.
rpc::Evaluate evaluate_request(const BenchOptions& options);
std::vector<StepTime> steps_of(const rpc::StepTimes& times);
// One a call. RemoteError with protocol_error when the server answered for another number of calls, or left one without
// samples.
std::vector<Timing> timings_of(const rpc::Evaluation& evaluation, std::size_t calls);

}  // namespace ferry::session
