#include "rpc/transport/tcp_address.h"

namespace ferry {

Result<TcpAddress> parse_tcp_address(std::string_view text, std::uint16_t default_port) {
  const auto refuse = [&](const char* expected) {
    return Status(ErrorCode::invalid_argument,
                  std::string("expected ") + expected + ", got '" + std::string(text) + "'");
  };
  std::string_view host = text;
  std::string_view port;
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return refuse("a ']' after an IPv6 address");
    host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    if (!port.empty() && port.front() != ':') return refuse("[ADDRESS]:PORT");
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    if (text.find(':', colon + 1) != std::string_view::npos)
      return refuse("an IPv6 address in brackets, [ADDRESS]:PORT");
    host = text.substr(0, colon);
    port = text.substr(colon);
  }
  if (host.empty()) return refuse("HOST:PORT");
  TcpAddress address{std::string(host), default_port};
  if (port.empty()) return address;
  port.remove_prefix(1);
  std::uint32_t number = 0;
  for (const char digit : port) {
    if (digit < '0' || digit > '9') return refuse("a port between 1 and 65535");
    number = number * 10 + static_cast<std::uint32_t>(digit - '0');
    if (number > 65535) return refuse("a port between 1 and 65535");
  }
  if (number == 0) return refuse("a port between 1 and 65535");
  address.port = static_cast<std::uint16_t>(number);
  return address;
}

Result<std::vector<TcpAddress>> parse_tcp_addresses(std::string_view text, std::uint16_t default_port) {
  std::vector<TcpAddress> addresses;
  while (true) {
    const std::size_t comma = text.find(',');
    FERRY_ASSIGN(TcpAddress address, parse_tcp_address(text.substr(0, comma), default_port));
    addresses.push_back(std::move(address));
    if (comma == std::string_view::npos) return addresses;
    text.remove_prefix(comma + 1);
  }
}

std::string to_text(const TcpAddress& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

}  // namespace ferry
