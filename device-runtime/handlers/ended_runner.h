// Ends a session whose code has ended the process that it ran in.
#pragma once

#include "device-runtime/runner/isolated_call.h"
#include "device-runtime/session/state/activity.h"

namespace ferry::device {

// If the runner has ended, ends this process in the same way, after it has recorded how on the activity page.
void end_like_runner(IsolatedCall& runner, Activity& activity);

}  // namespace ferry::device
