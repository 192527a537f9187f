// A connection to another server that is being made, without blocking the loop.
#pragma once

#include <chrono>
#include <memory>

#include "base/descriptor.h"
#include "base/status.h"
#include "rpc/server/event_loop.h"
#include "rpc/server/pending_connection.h"
#include "rpc/server/socket_address.h"

namespace ferry::server {

// Returns a socket for start(); fails with busy.
Result<Descriptor> socket_for(const SocketAddress& address);

class OutgoingConnection : public PendingConnection, public std::enable_shared_from_this<OutgoingConnection> {
 public:
  OutgoingConnection(EventLoop& loop, Descriptor socket) : socket_(loop, socket.release()), timer_(loop) {}
  OutgoingConnection(const OutgoingConnection&) = delete;
  OutgoingConnection& operator=(const OutgoingConnection&) = delete;

  // Everything until the timer is cancelled must happen within the timeout.
  void start(SocketAddress address, std::chrono::milliseconds timeout);
  void abandon() override;

 protected:
  virtual void on_connected() = 0;
  virtual void on_failed(const Status& why) = 0;

  WatchedDescriptor socket_;
  Timer timer_;

 private:
  void check_connected();
};

}  // namespace ferry::server
