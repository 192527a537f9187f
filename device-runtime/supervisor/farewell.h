// The last frame to a client, and then the end. The socket stays until the client has read it or a deadline passed:
// closed at once, with requests of the client still unread, the system would throw the frame away.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device-runtime/supervisor/event_loop.h"
#include "device-runtime/supervisor/pending_connection.h"

namespace ferry::device {

// Takes over the socket and returns at once; the socket closes later, by itself.
std::weak_ptr<PendingConnection> say_farewell(EventLoop& loop, int socket, std::vector<std::uint8_t> frame);

}  // namespace ferry::device
