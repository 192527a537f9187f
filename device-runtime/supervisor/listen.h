// The address a server listens at.
#pragma once

#include <cstdint>
#include <string>

#include "device-runtime/supervisor/descriptor.h"
#include "rpc/base/status.h"

namespace ferry::device {

// Binds to the first free port of first..last (0: any free one) and listens; the descriptor does not block. Without
// keys, addresses that others can reach are refused: who connects may run code.
Result<Descriptor> listen_at(const std::string& host, std::uint16_t first, std::uint16_t last, bool with_keys);

// This end of a socket: "127.0.0.1:9090", "[::1]:9090".
std::string own_name(int socket);
// The other end; "a local socket" where there are no addresses.
std::string peer_name(int socket);

}  // namespace ferry::device
