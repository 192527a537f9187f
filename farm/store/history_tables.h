// The tables of leases that have ended and of the audit log.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "farm/store/history.h"
#include "farm/store/sql_connection.h"

namespace ferry::farm {

// Each requires a transaction.
Result<std::vector<EndedLease>> read_ended_leases(SqlConnection& connection, const HistoryQuery& query);
Status write_audit_entry(SqlConnection& connection, const AuditEntry& entry);
Result<std::vector<NumberedAuditEntry>> read_audit_log(SqlConnection& connection, const AuditQuery& query);
// Does what Store::purge() says.
Result<bool> purge_history(SqlConnection& connection, Time before, std::size_t limit);

}  // namespace ferry::farm
