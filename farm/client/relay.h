// The way to a board that a client cannot reach: through its tracker, which forwards what both ends encrypt.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "farm/client/farm_access.h"
#include "rpc/transport/transport.h"

namespace ferry::farm {

// Which board: that of a lease which the client of `farm` holds.
struct RelayWay {
  FarmAccess farm;
  std::uint64_t lease = 0;
  std::uint32_t slot = 0;  // in the order in which the boards were granted
  // Set once the board could not be reached directly, which then is not tried again.
  std::shared_ptr<std::atomic<bool>> is_needed = std::make_shared<std::atomic<bool>>(false);
};

// Returns a connection that goes on as one to the board itself does, with preamble and handshake. The tracker closes it
// if the board does not come within 10 seconds. Fails as TrackerConnection::ask() does.
Result<std::unique_ptr<Transport>> open_relay(const RelayWay& way);

}  // namespace ferry::farm
