// The connections of clients: their requests for leases become events of the scheduler, and its actions about leases
// become messages to them.
#pragma once

#include "farm/tracker/core.h"

namespace ferry::farm {

// The first request must be a valid hello under the key of a client. Returns why the client is refused.
Status admit_client(Core& core, server::HandshakenClient& client, const Credential& credential);

Status handle_client_event(Core& core, ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body);

void client_left(Core& core, ConnectionNumber number);

void carry_out(Core& core, const TellWaiting& action);
void carry_out(Core& core, const TellGranted& action);
void carry_out(Core& core, const TellExtension& action);
void carry_out(Core& core, const TellWarning& action);
void carry_out(Core& core, const TellEnded& action);
void carry_out(Core& core, const ForeignIdRefused& action);

}  // namespace ferry::farm
