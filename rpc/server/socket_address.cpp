#include "rpc/server/socket_address.h"

#include <arpa/inet.h>
#include <net/if.h>

namespace ferry::server {

bool SocketAddress::is_loopback() {
  if (storage.ss_family == AF_INET) return ntohl(v4().sin_addr.s_addr) >> 24 == 127;
  return IN6_IS_ADDR_LOOPBACK(&v6().sin6_addr);
}

Result<SocketAddress> parse_socket_address(const std::string& host, const char* option) {
  SocketAddress address;
  const std::string text = host == "localhost" ? "127.0.0.1" : host;
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
                  std::string(option) + ": expected a numeric address such as 127.0.0.1, ::1 or fe80::1%eth0, got '" +
                      host + "' (the dynamic rpc_server looks names up as well)");
  }
  return address;
}

}  // namespace ferry::server
