// Transports over stream sockets: accepted TCP connections and socket pairs.
#pragma once

#include <memory>
#include <utility>

#include "rpc/transport/transport.h"

namespace ferry {

// Takes ownership of a connected stream socket, makes it blocking and, for TCP, sets TCP_NODELAY. The socket is closed
// when the transport is destroyed, and also if this function fails.
Result<std::unique_ptr<Transport>> wrap_socket(int fd);

// Creates a pair of connected local sockets and returns a transport for each.
Result<std::pair<std::unique_ptr<Transport>, std::unique_ptr<Transport>>> socket_transport_pair();

}  // namespace ferry
