// Sends the last frame to a client and then closes the connection. The socket stays open until the client has read the
// frame or a deadline has passed: if it were closed at once while requests of the client are unread, the system would
// discard the frame.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device-runtime/supervisor/event_loop.h"
#include "device-runtime/supervisor/pending_connection.h"

namespace ferry::device {

// Takes ownership of the socket and returns at once; the socket is closed later.
std::weak_ptr<PendingConnection> send_final_frame(EventLoop& loop, int socket, std::vector<std::uint8_t> frame);

}  // namespace ferry::device
