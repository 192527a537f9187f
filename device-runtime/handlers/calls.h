// The request that runs a kernel.
#pragma once

#include "device-runtime/handlers/call_arguments.h"
#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

Result<rpc::CallReply> handle_call(SessionState& state, RequestContext& context, const rpc::Call& request);

// Runs the workload, a plan of the call's function, once in this process.
Result<rpc::CallReply> run_once(SessionState& state, RequestContext& context, const CheckedCall& call,
                                PlanCall& workload);

}  // namespace ferry::device
