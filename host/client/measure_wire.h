// Checks a server's answer to a measurement.
#pragma once

#include <cstdint>
#include <vector>

#include "ferry/client.h"

namespace ferry::session {

// A time that a server claims is a number of seconds from 0 to this.
inline constexpr double kLongestTime = 1e6;

// Returns one timing for each call. Throws Error with protocol_error if the server answered for another number of
// calls, did not describe every sample of a call, or claims a time or a count that there cannot be: one that is
// negative, infinite or, but for counts, not a number.
std::vector<Timing> timings_of(Evaluation evaluation, std::size_t calls);

// Returns the steps. Throws Error with protocol_error if they have times that there cannot be, or another number of
// them than one for each repetition.
std::vector<StepTime> steps_of(std::vector<StepTime> steps, std::uint32_t repeat);

}  // namespace ferry::session
