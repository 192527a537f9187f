// The address a server listens at.
#pragma once

#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <string>

#include "rpc/base/status.h"

namespace ferry::device {

// Binds to the first free port of first..last (0: any free one) and listens. Addresses that others can reach are
// refused: nothing on this wire is encrypted, and who connects may run code.
Result<asio::ip::tcp::acceptor> listen_at(asio::io_context& context, const std::string& host, std::uint16_t first,
                                          std::uint16_t last);

// "127.0.0.1:9090", "[::1]:9090"
std::string endpoint_name(const asio::ip::tcp::acceptor& acceptor);

}  // namespace ferry::device
