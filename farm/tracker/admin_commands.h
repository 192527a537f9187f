// Commands of admins that change which boards belong to the farm and who may use it.
#pragma once

#include "farm/tracker/core.h"

namespace ferry::farm {

// Must be called when a board has joined under its own key. Deletes the key of its enrolment.
void confirm_enrolment(Core& core, BoardId board);

// Closes the connections of this credential's key, and ends the leases of a holder who has no other one.
void revoke_access(Core& core, const Credential& credential);

}  // namespace ferry::farm
