// Tells kinds of devices apart.
#pragma once

#include "ferry/target/target.h"
#include "host/tune/records/tune_record.h"

namespace ferry::tune {

// Returns the kind of the devices that the target is for. `threads` is how many a parallel loop may have; 0: as many as
// the target says.
DeviceKey device_key(const Target& target, std::uint32_t threads = 0);

}  // namespace ferry::tune
