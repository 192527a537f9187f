// Says why the times of a measurement should not be trusted.
#pragma once

#include <string>
#include <vector>

#include "ferry/bench/environment.h"
#include "ferry/device_facts.h"

namespace ferry::bench {

// Every measurement of an emulated device has this warning.
inline constexpr const char* kEmulatedWarning = "this device is emulated: its times mean nothing";

// Returns one sentence for each disturbance of the samples and of the board. `processors` is the device's number of
// processors.
std::vector<std::string> warnings(const Timing& timing, const Environment& environment, unsigned processors);
// The same about the board alone.
std::vector<std::string> board_warnings(const Timing& timing, const Environment& environment, unsigned processors);

}  // namespace ferry::bench
