// Waits for a user who wants to step through a kernel.
#pragma once

#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

// If the client requested it, logs how to attach a debugger and returns once one is attached.
void await_debugger(SessionState& state, RequestContext& context);

}  // namespace ferry::device
