// A board's ends of relays: connections to its tracker, through which clients that cannot reach the board open their
// sessions.
#pragma once

#include <cstdint>
#include <functional>

#include "rpc/server/event_loop.h"
#include "rpc/server/pending_connection.h"
#include "rpc/server/socket_address.h"

namespace ferry::device {

class RelayDials {
 public:
  // `connected` takes ownership of a socket at whose other end a client begins, as at that of an accepted one.
  RelayDials(server::EventLoop& loop, std::function<void(int socket)> connected)
      : loop_(loop), connected_(std::move(connected)) {}
  RelayDials(const RelayDials&) = delete;
  RelayDials& operator=(const RelayDials&) = delete;
  ~RelayDials() { stop(); }

  // Connects to the tracker and presents the token. Beyond a few attempts at a time the oldest are dropped.
  void dial(const server::SocketAddress& tracker, std::uint64_t token);
  // Drops all attempts.
  void stop() { pending_.abandon_all(); }

 private:
  server::EventLoop& loop_;
  std::function<void(int)> connected_;
  server::PendingConnections pending_{4};
};

}  // namespace ferry::device
