#include "rpc/server/listen.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"

namespace ferry::server {
namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);

  sockaddr* any() { return reinterpret_cast<sockaddr*>(&storage); }
  sockaddr_in& v4() { return reinterpret_cast<sockaddr_in&>(storage); }
  sockaddr_in6& v6() { return reinterpret_cast<sockaddr_in6&>(storage); }

  bool is_loopback() {
    if (storage.ss_family == AF_INET) return ntohl(v4().sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&v6().sin6_addr);
  }
  void set_port(std::uint16_t port) { (storage.ss_family == AF_INET ? v4().sin_port : v6().sin6_port) = htons(port); }
};

// Numeric addresses only: resolving names needs the system's libraries, which a static server does not have.
Result<Address> parse_address(const std::string& host) {
  Address address;
  const std::string text = host == "localhost" ? "127.0.0.1" : host;
  // An address with a zone, such as "fe80::1%eth0", is valid only on that interface.
  const std::size_t zone = text.find('%');
  const unsigned interface = zone == std::string::npos ? 0 : if_nametoindex(text.c_str() + zone + 1);
  if (inet_pton(AF_INET, text.c_str(), &address.v4().sin_addr) == 1) {
    address.storage.ss_family = AF_INET;
    address.length = sizeof(sockaddr_in);
  } else if (inet_pton(AF_INET6, text.substr(0, zone).c_str(), &address.v6().sin6_addr) == 1 &&
             (zone == std::string::npos || interface != 0)) {
    address.storage.ss_family = AF_INET6;
    address.length = sizeof(sockaddr_in6);
    address.v6().sin6_scope_id = interface;
  } else {
    return Status(ErrorCode::invalid_argument,
                  "--host: expected a numeric address such as 127.0.0.1, ::1 or fe80::1%eth0, got '" + host +
                      "' (the dynamic rpc_server looks names up as well)");
  }
  return address;
}

Status refuse_address(const std::string& host) {
  return {ErrorCode::invalid_argument,
          "--insecure-plaintext: expected a loopback address, got " + host +
              ": without a key, whoever reached the port could run code here. Leave the option out, and give the key "
              "that the server makes to those who may use it"};
}

// A negative descriptor means failure, with the reason in errno.
Descriptor try_port(Address address, std::uint16_t port) {
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

std::string name_of(Address address) {
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
  FERRY_ASSIGN(Address address, parse_address(host));
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
  Address address;
  return ::getsockname(socket, address.any(), &address.length) == 0 ? name_of(address) : "nowhere";
}

std::string peer_name(int socket) {
  Address address;
  return ::getpeername(socket, address.any(), &address.length) == 0 ? name_of(address) : "a client that is gone";
}

}  // namespace ferry::server
