// Waiting for somebody who wants to step through a kernel.
#pragma once

#include "device-runtime/handlers/session_state.h"

namespace ferry::device {

// Where the client asked for it: tells how to attach, and returns once a debugger has.
void await_debugger(SessionState& state, Exchange& exchange);

}  // namespace ferry::device
