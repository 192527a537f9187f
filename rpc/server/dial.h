// Connects to another server and does the client's part of the handshake, without blocking the loop.
//
// A session may be forked while the handshake waits for its answer, so nothing of it that is secret stays outside of
// SecretMemory in the meantime: the ephemeral key is there, and the key is asked for again when the answer has come.
#pragma once

#include <chrono>
#include <memory>

#include "base/descriptor.h"
#include "rpc/secure/key.h"
#include "rpc/server/event_loop.h"
#include "rpc/server/pending_connection.h"
#include "rpc/server/secure_ends.h"
#include "rpc/server/socket_address.h"

namespace ferry::server {

struct DialedConnection {
  Descriptor socket;
  SecretMemory::Pointer secure;
};

class Dialer {
 public:
  virtual ~Dialer() = default;
  virtual Result<secure::Key> read_key() = 0;
  // The connection, or why there is none. Called once, unless the connection is abandoned before.
  virtual void on_dialed(Result<DialedConnection> connection) = 0;
};

// Fails as secure::encrypt_connection() does, and with busy if `secrets` has no room. Records use ChaChaPoly. The
// dialer must outlive the attempt or abandon it.
std::weak_ptr<PendingConnection> dial(EventLoop& loop, SocketAddress address, SecretMemory& secrets,
                                      std::chrono::milliseconds timeout, Dialer& dialer);

}  // namespace ferry::server
