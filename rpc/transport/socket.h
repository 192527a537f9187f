// Transports over stream sockets: accepted TCP connections and socket pairs.
#pragma once

#include <memory>
#include <utility>

#include "rpc/transport/transport.h"

namespace ferry {

// Takes over a connected stream socket, makes it blocking and, where it is TCP, sets TCP_NODELAY. The socket is closed
// when the transport is destroyed, also when this fails.
Result<std::unique_ptr<Transport>> wrap_socket(int fd);

// Two ends of a pair of connected local sockets.
Result<std::pair<std::unique_ptr<Transport>, std::unique_ptr<Transport>>> socket_transport_pair();

}  // namespace ferry
