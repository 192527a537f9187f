// The request that times each launch of a function's plan.
#pragma once

#include "device-runtime/session/state/session_state.h"

namespace ferry::device {

Result<rpc::StepTimes> handle_time_steps(SessionState& state, RequestContext& context, const rpc::TimeSteps& request);

}  // namespace ferry::device
