// Converts between measurement options and results and their messages in the protocol.
#pragma once

#include <vector>

#include "host/session/timing.h"
#include "rpc/messages.h"

namespace ferry::session {

// Returns the request without its calls.
rpc::Evaluate evaluate_request(const BenchOptions& options);
std::vector<StepTime> steps_of(const rpc::StepTimes& times);
// Returns one timing for each call. Throws RemoteError with protocol_error if the server answered for another number of
// calls, or left one without samples.
std::vector<Timing> timings_of(const rpc::Evaluation& evaluation, std::size_t calls);

}  // namespace ferry::session
