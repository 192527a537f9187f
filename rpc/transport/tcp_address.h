// Addresses as people write them. Nothing here looks names up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ferry {

struct TcpAddress {
  std::string host;
  std::uint16_t port = 0;
};

// Parses "board:9090", "127.0.0.1:9090" or "[::1]:9090"; default_port applies if there is no port. invalid_argument
// says what was expected.
Result<TcpAddress> parse_tcp_address(std::string_view text, std::uint16_t default_port);
// Parses several of them, separated by commas.
Result<std::vector<TcpAddress>> parse_tcp_addresses(std::string_view text, std::uint16_t default_port);
// Returns the address in the same form, brackets included.
std::string to_text(const TcpAddress& address);

}  // namespace ferry
