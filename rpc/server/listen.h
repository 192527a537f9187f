// The address on which a server listens.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "base/status.h"

namespace ferry::server {

// Binds to the first free port of first..last (0: any free port) and listens; the descriptor is non-blocking. Without
// keys, addresses that other machines can reach are refused, because whoever connects can run code.
Result<Descriptor> listen_at(const std::string& host, std::uint16_t first, std::uint16_t last, bool with_keys);

// Returns the local address of a socket: "127.0.0.1:9090", "[::1]:9090".
std::string own_name(int socket);
// Returns the remote address of a socket; "a local socket" if it has no address.
std::string peer_name(int socket);

}  // namespace ferry::server
