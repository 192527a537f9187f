#include "rpc/server/listen.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "rpc/server/socket_address.h"

namespace ferry::server {
namespace {

Status refuse_address(const std::string& host) {
  return {ErrorCode::invalid_argument,
          "--insecure-plaintext: expected a loopback address, got " + host +
              ": without a key, whoever reached the port could run code here. Leave the option out, and give the key "
              "that the server makes to those who may use it"};
}

// A negative descriptor means failure, with the reason in errno.
Descriptor try_port(SocketAddress address, std::uint16_t port) {
  address.set_port(port);
  Descriptor listener(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (listener.number() >= 0 && ::setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      ::bind(listener.number(), address.any(), address.length) == 0 && ::listen(listener.number(), SOMAXCONN) == 0) {
    return listener;
  }
  const int error = errno;
  listener = Descriptor();
  errno = error;
  return {};
}

std::string name_of(SocketAddress address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.storage.ss_family == AF_INET) {
    inet_ntop(AF_INET, &address.v4().sin_addr, text, sizeof text);
    return format("%s:%u", text, unsigned{ntohs(address.v4().sin_port)});
  }
  if (address.storage.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &address.v6().sin6_addr, text, sizeof text);
    return format("[%s]:%u", text, unsigned{ntohs(address.v6().sin6_port)});
  }
  return "a local socket";
}

}  // namespace

Result<Descriptor> listen_at(const std::string& host, std::uint16_t first, std::uint16_t last, bool with_keys) {
  FERRY_ASSIGN(SocketAddress address, parse_socket_address(host, "--host"));
  if (!with_keys && !address.is_loopback()) return refuse_address(host);
  int error = 0;
  for (unsigned port = first; port <= last; ++port) {
    Descriptor listener = try_port(address, static_cast<std::uint16_t>(port));
    if (listener.number() >= 0) return listener;
    error = errno;
    if (error != EADDRINUSE) break;
  }
  const std::string ports = first == last ? format("port %u", first) : format("any of ports %u to %u", first, last);
  return Status(ErrorCode::unavailable,
                format("cannot listen on %s of %s: %s", ports.c_str(), host.c_str(), std::strerror(error)));
}

std::string own_name(int socket) {
  SocketAddress address;
  return ::getsockname(socket, address.any(), &address.length) == 0 ? name_of(address) : "nowhere";
}

std::string peer_name(int socket) {
  SocketAddress address;
  return ::getpeername(socket, address.any(), &address.length) == 0 ? name_of(address) : "a client that is gone";
}

}  // namespace ferry::server
