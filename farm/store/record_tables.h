// The tables of what is current: how records change them, and how they are read as a snapshot.
#pragma once

#include "base/status.h"
#include "farm/core/lease/records.h"
#include "farm/store/sql_connection.h"

namespace ferry::farm {

// Requires a writing transaction. Fails with internal if the record contradicts the tables: it ends a request that
// there is not, for example.
Status write_record(SqlConnection& connection, const Record& record);

// Requires a transaction.
Result<Snapshot> read_snapshot(SqlConnection& connection);

}  // namespace ferry::farm
