// From a request's tag to its handler and back to an answer. Every request gets exactly one answer.
#pragma once

#include "device-runtime/handlers/session_state.h"

namespace ferry::device {

// Returns whether the session goes on.
bool dispatch(SessionState& state, rpc::Connection& connection, Activity& activity, const rpc::Frame& frame);

}  // namespace ferry::device
