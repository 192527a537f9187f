// The tables of health checks, of what was learned from them, and of sessions that have ended.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "farm/store/board_logs.h"
#include "farm/store/sql_connection.h"

namespace ferry::farm {

// Each as the function of Store, and requires a transaction.
Status write_health_entry(SqlConnection& connection, const HealthEntry& entry);
Result<std::vector<NumberedHealthEntry>> read_health_entries(SqlConnection& connection, const NumberedQuery& query);
Status write_session(SqlConnection& connection, const SessionEntry& session);
Result<std::vector<NumberedSessionEntry>> read_sessions(SqlConnection& connection, const NumberedQuery& query);
Status write_health_state(SqlConnection& connection, BoardId board, const std::string& state);
Result<std::vector<HealthState>> read_health_states(SqlConnection& connection);

}  // namespace ferry::farm
