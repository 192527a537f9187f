// How a signal ends a wait for the peer.
#pragma once

#include "ferry/api.h"

namespace ferry {

// Asked on the thread that waits whenever a signal has interrupted it; true gives up.
using GivesUp = bool (*)();

// Asks `gives_up` from here on, in all transports over sockets; null, the default: a signal that the process has
// handled changes nothing. A transport that gives up fails with `unavailable`, and its peer finds the connection
// closed.
FERRY_API void set_interruption(GivesUp gives_up);

}  // namespace ferry
