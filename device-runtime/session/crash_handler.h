// Records where a session was when a signal ended it, in the memory that it shares with the supervisor.
#pragma once

#include "device-runtime/session/state/activity.h"

namespace ferry::device {

// Installs the handlers for this process. The activity must outlive the process's threads. Threads need a SignalStack,
// or a stack overflow goes unreported.
void note_crashes(Activity& activity);

}  // namespace ferry::device
