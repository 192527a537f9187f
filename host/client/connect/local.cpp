#include "host/client/connect/local.h"

#include "base/throw_status.h"
#include "host/client/connect/local_server.h"
#include "rpc/transport/socket.h"

namespace ferry::session {

Link LocalConnector::open(const ConnectOptions&) {
  auto server = std::make_unique<LocalServer>(find_rpc_server());
  Link link;
  link.transport = value_or_throw(wrap_socket(server->take_socket()));
  link.name = "this machine";
  link.server = std::move(server);
  return link;
}

}  // namespace ferry::session
