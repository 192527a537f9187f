// Opens relays between clients and the boards of their leases, and ends them with the leases.
#pragma once

#include "base/descriptor.h"
#include "farm/tracker/core.h"

namespace ferry::farm {

// Answers a request for a relay to a board of one of the client's leases.
Status offer_relay(Core& core, ConnectionNumber from, const rpc::FrameHeader& header,
                   std::span<const std::uint8_t> body);

// Accepts one end of a relay.
void accept_relay_end(Core& core, Descriptor socket, const rpc::RelayTicket& ticket);

// Must be called each second. Forgets tokens that are too old, and closes relays whose leases have been over for a
// second, in which the end of a session was told.
void expire_relays(Core& core);

}  // namespace ferry::farm
