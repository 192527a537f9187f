// The requests that measure: they run several calls in turns and report the environment.
#pragma once

#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

Result<Evaluation> handle_evaluate(SessionState& state, RequestContext& context, const rpc::Evaluate& request);

}  // namespace ferry::device
