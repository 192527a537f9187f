#include "rpc/server/host_name.h"

#include <netdb.h>
#include <sys/socket.h>

namespace ferry::server {

Result<std::string> find_address(const std::string& host, const char* option) {
  if (host.find(':') != std::string::npos) return host;  // IPv6: no host name contains a colon
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* list = nullptr;
  char text[NI_MAXHOST] = {};
  int error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error == 0) {
    error = getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
    freeaddrinfo(list);
  }
  if (error == 0) return std::string(text);
  return Status(ErrorCode::invalid_argument,
                std::string(option) + ": cannot find '" + host + "': " + gai_strerror(error));
}

}  // namespace ferry::server
