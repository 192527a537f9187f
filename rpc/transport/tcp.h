// The client's end of TCP.
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

// "board:9090", "127.0.0.1:9090", "[::1]:9090"; without a port it is default_port. invalid_argument says what was
// expected.
Result<TcpAddress> parse_tcp_address(std::string_view text, std::uint16_t default_port);
// The same text back, brackets included.
std::string to_text(const TcpAddress& address);

// Tries each address the name stands for until one answers, all within the timeout, name lookup included. unavailable
// names the address and the reason.
Result<std::unique_ptr<Transport>> connect_tcp(const std::string& host, std::uint16_t port,
                                               std::chrono::milliseconds timeout = std::chrono::seconds(5));

}  // namespace ferry
