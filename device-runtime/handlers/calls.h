// The request that runs a kernel.
#pragma once

#include "device-runtime/handlers/session_state.h"

namespace ferry::device {

Result<rpc::CallReply> handle_call(SessionState& state, RequestContext& context, const rpc::Call& request);

}  // namespace ferry::device
