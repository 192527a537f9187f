// The store in a database of PostgreSQL, which the trackers of one farm share: one of them schedules, the others stand
// by. Its clock is the database's.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/status.h"
#include "farm/store/store.h"

namespace ferry::farm {

// Connects to the database that a URI of libpq names ("postgresql://user@host/database") and makes the tables if it is
// empty. A connection that is lost is made anew by the next transaction. Fails with unsupported if this machine lacks
// libpq, with version_mismatch if a later ferry has written the database, and with unavailable if there is no answer.
// The right to schedule is lost after a silence of `right_lasts`.
Result<std::unique_ptr<Store>> open_postgres_store(const std::string& uri,
                                                   std::chrono::milliseconds right_lasts = Store::kRightLasts);

}  // namespace ferry::farm
