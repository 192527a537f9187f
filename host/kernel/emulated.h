// Whether a device is emulated, which says nothing of the times of a real one.
#pragma once

#include "ferry/device_facts.h"

namespace ferry {

inline bool is_emulated(const DeviceFacts& facts) { return facts.cpu_name.starts_with("emulated"); }

}  // namespace ferry
