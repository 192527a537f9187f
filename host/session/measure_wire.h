// Checks a server's answer to a measurement.
#pragma once

#include <vector>

#include "ferry/client.h"

namespace ferry::session {

// Returns one timing for each call. Throws Error with protocol_error if the server answered for another number of
// calls, or did not describe every sample of a call.
std::vector<Timing> timings_of(Evaluation evaluation, std::size_t calls);

}  // namespace ferry::session
