// The boards of farms as devices: farm://FARM/SELECTOR, and the boards of lease files that are reached through a farm's
// tracker.
#pragma once

#include "farm/client/board_lease.h"
#include "farm/client/relay.h"
#include "host/client/connect/lease_file.h"
#include "host/client/connect/schemes.h"

namespace ferry::farm {

// Adds farm:// and lets lease: reach boards through their trackers.
session::Schemes with_farm(session::Schemes schemes = {});

// The way to a board through the tracker.
session::Detour relay_detour(RelayRoute route);

// What a lease file says of the lease now.
session::LeaseFile lease_file_of(const FarmAccess& farm, const BoardLease& lease);

}  // namespace ferry::farm
