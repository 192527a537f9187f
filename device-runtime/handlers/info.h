// Requests about the session itself.
#pragma once

#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

Result<rpc::OpenReply> handle_open(SessionState& state, RequestContext& context, const rpc::Open& request);
Result<rpc::Empty> handle_ping(SessionState& state, RequestContext& context, const rpc::Ping& request);
Result<rpc::FactsReply> handle_facts(SessionState& state, RequestContext& context, const rpc::Facts& request);
Result<rpc::Empty> handle_close(SessionState& state, RequestContext& context, const rpc::Close& request);

}  // namespace ferry::device
