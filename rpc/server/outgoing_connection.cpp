#include "rpc/server/outgoing_connection.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "rpc/transport/keepalive.h"

namespace ferry::server {

Result<Descriptor> socket_for(const SocketAddress& address) {
  Descriptor socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (socket.number() < 0) return Status(ErrorCode::busy, "no descriptor is left for a connection");
  return socket;
}

void OutgoingConnection::start(SocketAddress address, std::chrono::milliseconds timeout) {
  timer_.start(timeout,
               [self = shared_from_this()] { self->on_failed({ErrorCode::unavailable, "it does not answer"}); });
  if (::connect(socket_.number(), address.any(), address.length) == 0) return check_connected();
  if (errno != EINPROGRESS) return on_failed({ErrorCode::unavailable, std::strerror(errno)});
  socket_.when_writable([self = shared_from_this()] { self->check_connected(); });
}

void OutgoingConnection::check_connected() {
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket_.number(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error != 0) return on_failed({ErrorCode::unavailable, std::strerror(error)});
  enable_keepalive(socket_.number());
  on_connected();
}

void OutgoingConnection::abandon() {
  timer_.cancel();
  if (socket_.is_open()) socket_.close();
}

}  // namespace ferry::server
