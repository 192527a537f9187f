// Dispatches a request by its tag to its handler and sends the answer. Every request gets exactly one answer.
#pragma once

#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

// Returns whether the session continues.
bool dispatch(SessionState& state, rpc::Connection& connection, Activity& activity, const rpc::Frame& frame);

}  // namespace ferry::device
