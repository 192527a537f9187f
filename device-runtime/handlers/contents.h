// Requests that ask about the contents of tensors without transferring them.
#pragma once

#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

Result<rpc::DigestReply> handle_digest(SessionState& state, RequestContext& context, const rpc::Digest& request);
Result<rpc::CompareReply> handle_compare(SessionState& state, RequestContext& context, const rpc::Compare& request);

}  // namespace ferry::device
