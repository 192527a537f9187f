// How a connection to a farm's tracker becomes an end of a relay.
#pragma once

#include "base/status.h"
#include "rpc/transport/transport.h"
#include "rpc/wire/frame.h"

namespace ferry::rpc {

// Presents the ticket over a fresh connection. What follows goes to the other end: a client begins there as if it had
// connected to the board. The tracker closes the connection if the token is not valid (any more).
Status send_relay_preamble(Transport& transport, const RelayTicket& ticket);

}  // namespace ferry::rpc
