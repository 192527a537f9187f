// Addresses of sockets. They are numeric: resolving names needs the system's libraries, which a static server does not
// have.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "base/status.h"

namespace ferry::server {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);

  sockaddr* any() { return reinterpret_cast<sockaddr*>(&storage); }
  sockaddr_in& v4() { return reinterpret_cast<sockaddr_in&>(storage); }
  sockaddr_in6& v6() { return reinterpret_cast<sockaddr_in6&>(storage); }

  bool is_loopback();
  void set_port(std::uint16_t port) { (storage.ss_family == AF_INET ? v4().sin_port : v6().sin6_port) = htons(port); }
};

// An address with a zone, such as "fe80::1%eth0", is valid only on that interface. The message of a failure names the
// option that `host` comes from.
Result<SocketAddress> parse_socket_address(const std::string& host, const char* option);

}  // namespace ferry::server
