// Relays bytes between standard input and output and a socket, so that a session can run over a pipe, such as that of
// ssh.
#pragma once

#include "rpc/server/event_loop.h"

namespace ferry::device {

// Returns the other end of the socket. From then on, standard input and output are /dev/null, so that prints of kernels
// or libraries cannot mix with the bytes for the client. The relay ends when the socket's other end is closed and
// everything received from it has been written; the end of standard input is passed on.
Result<int> start_stdio_relay(server::EventLoop& loop);

}  // namespace ferry::device
