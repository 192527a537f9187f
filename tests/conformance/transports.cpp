#include "tests/conformance/transports.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "rpc/transport/loopback.h"
#include "rpc/transport/socket.h"
#include "rpc/transport/tcp.h"

namespace ferry {
namespace {

std::unique_ptr<Transport> expect(Result<std::unique_ptr<Transport>> transport) {
  if (!transport.is_ok()) throw std::runtime_error(transport.status().message());
  return std::move(transport.value());
}

TransportPair connect_over_tcp() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), length) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw std::runtime_error("cannot listen on 127.0.0.1");
  }
  auto client = expect(connect_tcp("127.0.0.1", ntohs(address.sin_port)));
  auto server = expect(wrap_socket(::accept(listener, nullptr, nullptr)));
  ::close(listener);
  return {std::move(client), std::move(server)};
}

TransportPair connect_socket_pair() {
  auto pair = socket_transport_pair();
  if (!pair.is_ok()) throw std::runtime_error(pair.status().message());
  return std::move(pair.value());
}

}  // namespace

const TransportKind kAllTransports[kTransportKinds] = {
    {"tcp", connect_over_tcp}, {"socket pair", connect_socket_pair}, {"loopback", loopback_transport_pair}};

}  // namespace ferry
