// The route to a board that a client cannot reach: through its tracker, which forwards what both ends encrypt.
#pragma once

#include <cstdint>
#include <memory>

#include "farm/client/farm_access.h"
#include "rpc/transport/transport.h"

namespace ferry::farm {

// Which board: that of a lease which the client of `farm` holds.
struct RelayRoute {
  FarmAccess farm;
  std::uint64_t lease = 0;
  std::uint32_t slot = 0;  // in the order in which the boards were granted
};

// Returns a connection that goes on as one to the board itself does, with preamble and handshake. The tracker closes it
// if the board does not come within 10 seconds. Fails as FarmClient::ask() does.
Result<std::unique_ptr<Transport>> open_relay(const RelayRoute& route);

}  // namespace ferry::farm
