// A TCP connection that ends when the other end's machine has gone without a word.
#pragma once

#include <memory>

#include "rpc/transport/transport.h"

namespace ferry {

// Sends and receives then fail with `unavailable`, after 8 to 10 s of silence; the system alone would go on for a
// quarter of an hour. A peer that is alive and takes its time is waited for.
std::unique_ptr<Transport> watched_transport(std::unique_ptr<Transport> tcp);

}  // namespace ferry
