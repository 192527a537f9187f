// A TCP connection that fails once the other end's machine has vanished without closing it.
#pragma once

#include <memory>

#include "rpc/transport/transport.h"

namespace ferry {

// Sends and receives then fail with `unavailable` after 8 to 10 s of silence; the system alone would keep trying for a
// quarter of an hour. A peer that is alive but slow is waited for.
std::unique_ptr<Transport> watched_transport(std::unique_ptr<Transport> tcp);

}  // namespace ferry
