#include "device-runtime/supervisor/listen.h"

#include <asio/ip/address.hpp>

#include "rpc/base/format.h"

namespace ferry::device {
namespace {

using asio::ip::tcp;

asio::error_code try_port(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
  asio::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  return error;
}

Result<asio::ip::address> parse_address(const std::string& host) {
  asio::error_code error;
  const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) {
    return Status(ErrorCode::invalid_argument,
                  "--host: expected a numeric address such as 127.0.0.1, got '" + host + "'");
  }
  if (!address.is_loopback()) {
    return Status(
        ErrorCode::invalid_argument,
        "--host: expected a loopback address, got " + host +
            ": this version has neither keys nor encryption, so whoever reached the port could run code here. "
            "Listen on 127.0.0.1 and tunnel from the other machine: ssh -L 9090:localhost:9090 user@board");
  }
  return address;
}

}  // namespace

Result<tcp::acceptor> listen_at(asio::io_context& context, const std::string& host, std::uint16_t first,
                                std::uint16_t last) {
  FERRY_ASSIGN(const asio::ip::address address, parse_address(host));
  asio::error_code error;
  for (unsigned port = first; port <= last; ++port) {
    tcp::acceptor acceptor(context);
    error = try_port(acceptor, tcp::endpoint(address, static_cast<std::uint16_t>(port)));
    if (!error) return acceptor;
    if (error != asio::error::address_in_use) break;
  }
  const std::string ports = first == last ? format("port %u", first) : format("any of ports %u to %u", first, last);
  return Status(ErrorCode::unavailable,
                format("cannot listen on %s of %s: %s", ports.c_str(), host.c_str(), error.message().c_str()));
}

std::string endpoint_name(const tcp::acceptor& acceptor) {
  asio::error_code error;
  const tcp::endpoint endpoint = acceptor.local_endpoint(error);
  const std::string address = endpoint.address().to_string();
  return format(endpoint.address().is_v6() ? "[%s]:%u" : "%s:%u", address.c_str(), unsigned{endpoint.port()});
}

}  // namespace ferry::device
