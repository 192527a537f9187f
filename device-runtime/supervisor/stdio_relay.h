// Carries bytes between standard input and output and a socket, so that a session can be spoken to through a pipe, such
// as the one that ssh makes.
#pragma once

#include "device-runtime/supervisor/event_loop.h"

namespace ferry::device {

// Returns the other end of the socket. From then on, standard input and output are /dev/null: what a kernel or a
// library prints must not land among the bytes for the client. The relay ends when the socket's other end is closed and
// all that came from it is written; the end of standard input is passed on.
Result<int> start_stdio_relay(EventLoop& loop);

}  // namespace ferry::device
