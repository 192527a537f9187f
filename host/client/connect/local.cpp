#include "host/client/connect/local.h"

#include "base/throw_status.h"
#include "host/client/connect/local_server.h"
#include "rpc/transport/socket.h"

namespace ferry::session {

Link LocalConnector::open(const ConnectOptions& options) {
  Link link;
  // Guarded tensors lie between pages of the session's own.
  if (!options.guard_tensors) link.shared = SharedObject::make();
  const int object = link.shared == nullptr ? -1 : link.shared->descriptor();
  auto server = std::make_unique<LocalServer>(find_rpc_server(), std::vector<std::string>(), object);
  link.transport = value_or_throw(wrap_socket(server->take_socket()));
  link.name = "this machine";
  link.server = std::move(server);
  return link;
}

}  // namespace ferry::session
