// The client's side of TCP.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "rpc/transport/tcp_address.h"
#include "rpc/transport/transport.h"

namespace ferry {

// Tries each address that the name resolves to until one accepts. The timeout covers all attempts and the name lookup.
// unavailable names the address and the reason.
Result<std::unique_ptr<Transport>> connect_tcp(const std::string& host, std::uint16_t port,
                                               std::chrono::milliseconds timeout = std::chrono::seconds(5));

}  // namespace ferry
