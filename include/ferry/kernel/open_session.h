// The callback with which a service opens sessions.
#pragma once

#include <functional>

#include "ferry/client.h"

namespace ferry {

// Opens a session on some device: one with an address, this machine, or one that is chosen only then. The service fills
// in what the kernel needs of it: devices, source_line and guard_tensors, and how long a call may take (deadlines.call)
// unless whoever provides this knows better. All else is up to them.
using OpenSession = std::function<Device(const ConnectOptions& options)>;

}  // namespace ferry
