// Two connected ends inside one process: the smallest transport, and the pattern for the next one. Each direction is a
// bounded queue, so a sender waits for its reader as it would on a socket.
#pragma once

#include <memory>
#include <utility>

#include "rpc/transport/transport.h"

namespace ferry {

std::pair<std::unique_ptr<Transport>, std::unique_ptr<Transport>> loopback_transport_pair();

}  // namespace ferry
