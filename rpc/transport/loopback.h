// Two connected ends inside one process: the smallest transport, and a template for new ones. Each direction is a
// bounded queue, so a sender blocks until its reader catches up, as on a socket.
#pragma once

#include <memory>
#include <utility>

#include "rpc/transport/transport.h"

namespace ferry {

std::pair<std::unique_ptr<Transport>, std::unique_ptr<Transport>> loopback_transport_pair();

}  // namespace ferry
