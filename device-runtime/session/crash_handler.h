// Notes where a session was when a signal ended it, in the memory that it shares with the supervisor.
#pragma once

#include "device-runtime/handlers/activity.h"

namespace ferry::device {

// For this process. The activity must stay; threads want a SignalStack, or the end of their stack goes unexplained.
void note_crashes(Activity& activity);

}  // namespace ferry::device
