// What a store returns as text, to compare and to read where it differs.
#pragma once

#include <string>

#include "farm/core/lease/records.h"
#include "farm/store/board_logs.h"
#include "farm/store/history.h"

namespace ferry::test {

// A line for each record, in an order that does not depend on the store's.
std::string describe(const farm::Snapshot& snapshot);
std::string describe(const farm::EndedLease& lease);
std::string describe(const farm::NumberedAuditEntry& entry);
std::string describe(const farm::NumberedHealthEntry& numbered);
std::string describe(const farm::NumberedSessionEntry& numbered);
std::string describe(const farm::HealthState& state);

}  // namespace ferry::test
