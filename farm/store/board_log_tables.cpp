#include "farm/store/board_log_tables.h"

#include "base/format.h"
#include "farm/store/columns.h"
#include "farm/store/store.h"

namespace ferry::farm {
namespace {

template <class Numbered>
Result<std::vector<Numbered>> read_page(SqlConnection& connection, const std::string& table,
                                        const NumberedQuery& query) {
  Filter filter;
  if (query.board) filter.add("board = ?", *query.board);
  if (query.before) filter.add("number < ?", *query.before);
  filter.end("number DESC", query.limit);
  return read_rows<Numbered>(connection, table, filter);
}

// The holder of the lease that had this epoch on the board; empty if none has ended.
Result<std::string> holder_of(SqlConnection& connection, const SessionEntry& session) {
  FERRY_ASSIGN(const SqlResult found,
               execute(connection,
                       "SELECT h.holder FROM ended_parts p JOIN ended_requests h ON h.number = p.number "
                       "WHERE p.board = $1 AND p.epoch = $2 AND p.lease = $3 ORDER BY h.number DESC LIMIT 1",
                       session.board, session.epoch, session.lease));
  if (found.rows.empty()) return std::string();
  RowReader row(found.rows.front());
  std::string holder = row.text();
  FERRY_TRY(row.status());
  return holder;
}

}  // namespace

Status write_health_entry(SqlConnection& connection, const HealthEntry& entry) {
  return append(connection, "health_checks", entry);
}

Result<std::vector<NumberedHealthEntry>> read_health_entries(SqlConnection& connection, const NumberedQuery& query) {
  return read_page<NumberedHealthEntry>(connection, "health_checks", query);
}

Status write_session(SqlConnection& connection, const SessionEntry& session) {
  FERRY_TRY(expect_name(session.holder));
  if (session.failure.size() > kMaxFailureBytes)
    return {ErrorCode::invalid_argument, format("expected the report of a failure of at most %zu bytes, got %zu",
                                                kMaxFailureBytes, session.failure.size())};
  SessionEntry completed = session;
  if (completed.holder.empty()) {
    FERRY_ASSIGN(completed.holder, holder_of(connection, session));
  }
  return append(connection, "sessions", completed);
}

Result<std::vector<NumberedSessionEntry>> read_sessions(SqlConnection& connection, const NumberedQuery& query) {
  return read_page<NumberedSessionEntry>(connection, "sessions", query);
}

Status write_health_state(SqlConnection& connection, BoardId board, const std::string& state) {
  return upsert(connection, "health_states", HealthState{board, state});
}

Result<std::vector<HealthState>> read_health_states(SqlConnection& connection) {
  return read_rows<HealthState>(connection, "health_states", " ORDER BY board");
}

}  // namespace ferry::farm
