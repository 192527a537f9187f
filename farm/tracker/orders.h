// Changes who belongs to the farm and who may use it.
#pragma once

#include "farm/tracker/core.h"

namespace ferry::farm {

// A board has joined under its own key: that of its enrolment has done its work.
void confirm_enrolment(Core& core, BoardId board);

// Closes the connections of this credential's key, and ends the leases of a holder who has no other one.
void shut_out(Core& core, const Credential& credential);

}  // namespace ferry::farm
