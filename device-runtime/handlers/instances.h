// The request that binds an instance.
#pragma once

#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

Result<rpc::CallReply> handle_bind(SessionState& state, RequestContext& context, const rpc::Bind& request);

}  // namespace ferry::device
