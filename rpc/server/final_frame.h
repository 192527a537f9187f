// Sends the last frame to a client and then closes the connection. The socket stays open until the client has read the
// frame or a deadline has passed: if it were closed at once while requests of the client are unread, the system would
// discard the frame.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/descriptor.h"
#include "base/status.h"
#include "rpc/server/event_loop.h"
#include "rpc/server/handshake.h"
#include "rpc/server/pending_connection.h"

namespace ferry::server {

// Closes a client's socket, of which it takes ownership.
using CloseSocket = void (*)(int socket);

// Closes the socket without waiting for data that the client has not received. A session that shares the socket may
// have asked for that (SO_LINGER), for as long as it likes.
void close_at_once(int socket);

// Takes ownership of the socket and returns at once; the socket is closed later.
std::weak_ptr<PendingConnection> send_final_frame(EventLoop& loop, int socket, std::vector<std::uint8_t> frame,
                                                  CloseSocket close = close_at_once);

// The final frames of clients that were admitted.
class FinalFrames {
 public:
  // If more than `most` are being sent, the oldest are abandoned.
  FinalFrames(EventLoop& loop, std::size_t most) : loop_(loop), pending_(most) {}

  // Takes the socket out of the descriptor.
  void send(Descriptor& socket, std::vector<std::uint8_t> frame, CloseSocket close = close_at_once) {
    pending_.add(send_final_frame(loop_, socket.release(), std::move(frame), close));
  }
  // Answers the client's first request with this failure.
  void refuse(HandshakenClient& client, const Status& failure);

 private:
  EventLoop& loop_;
  PendingConnections pending_;
};

}  // namespace ferry::server
