#include "device-runtime/supervisor/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "rpc/base/format.h"

namespace ferry::device {

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

asio::error_code adopt_descriptor(ClientSocket& socket, int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return {errno, asio::error::get_system_category()};
  }
  asio::error_code error;
  socket.assign(asio::generic::stream_protocol(address.ss_family, 0), descriptor, error);
  return error;
}

std::string peer_name(int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  char text[INET6_ADDRSTRLEN] = {};
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) return "a client that is gone";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    if (inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text) != nullptr)
      return format("%s:%d", text, ntohs(v4.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    if (inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text) != nullptr) {
      return format("[%s]:%d", text, ntohs(v6.sin6_port));
    }
  }
  return "a local socket";
}

}  // namespace ferry::device
