// The client's side of TCP.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rpc/transport/transport.h"

namespace ferry {

struct TcpAddress {
  std::string host;
  std::uint16_t port = 0;
};

// Parses "board:9090", "127.0.0.1:9090" or "[::1]:9090"; default_port applies if there is no port. invalid_argument
// says what was expected.
Result<TcpAddress> parse_tcp_address(std::string_view text, std::uint16_t default_port);
// Returns the address in the same form, brackets included.
std::string to_text(const TcpAddress& address);

// Tries each address that the name resolves to until one accepts. The timeout covers all attempts and the name lookup.
// unavailable names the address and the reason.
Result<std::unique_ptr<Transport>> connect_tcp(const std::string& host, std::uint16_t port,
                                               std::chrono::milliseconds timeout = std::chrono::seconds(5));

}  // namespace ferry
