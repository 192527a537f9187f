// How a device is reached. A scheme of addresses (schemes.h) makes a connector of an address, the connector opens a
// link to the device, and connect_to() opens a session over the link.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "ferry/connect_options.h"
#include "ferry/error.h"
#include "host/client/connect/direct_session.h"
#include "host/client/connect/shared_object.h"
#include "rpc/secure/key.h"
#include "rpc/transport/transport.h"

namespace ferry::session {

// The right to use a device for a while. Thread-safe.
class Lease {
 public:
  virtual ~Lease() = default;
  // Returns how long it lasts at least, as far as is known.
  virtual std::chrono::milliseconds remaining() const = 0;
  // Returns why it has ended, after waiting briefly for that; empty if it goes on, or if nobody can tell.
  virtual std::string why_ended() const = 0;
};

// A server that was started for one session.
class SessionServer {
 public:
  virtual ~SessionServer() = default;
  // Throws Error that says how it ended, if it has.
  virtual void check_running() = 0;
};

// The key that the other end must have too, and the file that contained it; empty: it comes from a lease.
struct ServerKey {
  secure::Key key;
  std::string file = {};
};

// A connection to a server, over which nothing has been sent yet.
struct Link {
  std::unique_ptr<Transport> transport;
  std::string name;              // the device's, for messages
  std::string board = {};        // see Device::board(); empty: the name
  std::optional<ServerKey> key;  // nothing: the transport is used as it is, without a handshake
  bool is_relayed = false;
  // The session keeps both until it is closed.
  std::unique_ptr<SessionServer> server = {};  // null: a server that others use too
  std::shared_ptr<const Lease> lease = {};     // null: the device needs none
  std::shared_ptr<DirectSession> direct = {};  // null: the device is not in this process
  std::unique_ptr<SharedObject> shared = {};   // memory that the server has too; null: none
};

class Connector {
 public:
  virtual ~Connector() = default;
  // Connects to the device, after waiting for it if others have it. May be called again, for another session. Throws
  // Error.
  virtual Link open(const ConnectOptions& options) = 0;
  // Throws Error with invalid_argument unless there is a server that can say whom it serves.
  virtual void expect_shared_server() const {}
};

// Called in a handler of `error`: throws why the lease has ended, if it has and says why, otherwise the same error
// again.
[[noreturn]] void throw_explained(const Lease* lease, const Error& error);

}  // namespace ferry::session
