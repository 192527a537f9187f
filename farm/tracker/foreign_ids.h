// Attempts to do something with the id of another holder's lease or request, which are refused.
#pragma once

#include <cstdint>
#include <string>

#include "farm/tracker/core.h"

namespace ferry::farm {

// Writes the attempt into the audit log, unless one of this holder was written during the last hour: then it is
// counted, and the next entry says how many there were. So nobody floods the log.
void audit_foreign_id(Core& core, const Caller& caller, const std::string& action, std::uint64_t lease);

// The same if there is such a lease or request, and it is somebody else's.
void audit_if_foreign(Core& core, const Caller& caller, const std::string& action, std::uint64_t lease);

}  // namespace ferry::farm
