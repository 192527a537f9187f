#include "farm/store/board_log_tables.h"

#include <utility>

#include "base/format.h"
#include "farm/store/filter.h"
#include "farm/store/store.h"

namespace ferry::farm {
namespace {

HealthEntry read_entry(RowReader& row, HealthEntry entry) {
  entry.board = row.number<BoardId>();
  entry.at = row.time();
  entry.job = row.text();
  entry.picoseconds = row.number<std::uint64_t>();
  entry.baseline_picoseconds = row.number<std::uint64_t>();
  entry.verdict = row.text();
  if (!row.is_null()) entry.millidegrees = row.number<std::int32_t>();
  entry.text = row.text();
  return entry;
}

SessionEntry read_entry(RowReader& row, SessionEntry session) {
  session.board = row.number<BoardId>();
  session.ended = row.time();
  session.length = row.duration();
  session.lease = row.number<LeaseId>();
  session.holder = row.text();
  session.client = row.text();
  session.failure = row.text();
  return session;
}

// `select` names the number first, then the columns in the order in which read_entry() takes them.
template <class Numbered>
Result<std::vector<Numbered>> read_page(SqlConnection& connection, const std::string& select,
                                        const NumberedQuery& query) {
  Filter filter;
  if (query.board) filter.add("board = ?", *query.board);
  if (query.before) filter.add("number < ?", *query.before);
  filter.end("number DESC", query.limit);
  FERRY_ASSIGN(const SqlResult result, execute_checked(connection, select + filter.text(), filter.parameters()));
  std::vector<Numbered> entries;
  entries.reserve(result.rows.size());
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    Numbered& numbered = entries.emplace_back();
    numbered.number = row.number<std::uint64_t>();
    numbered.entry = read_entry(row, std::move(numbered.entry));
    FERRY_TRY(row.status());
  }
  return entries;
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
  return execute(connection,
                 "INSERT INTO health_checks (number, board, at, job, picoseconds, baseline_picoseconds, verdict, "
                 "millidegrees, text) SELECT COALESCE(MAX(number), 0) + 1, $1, $2, $3, $4, $5, $6, $7, $8 "
                 "FROM health_checks",
                 entry.board, entry.at, entry.job, entry.picoseconds, entry.baseline_picoseconds, entry.verdict,
                 entry.millidegrees, entry.text)
      .status();
}

Result<std::vector<NumberedHealthEntry>> read_health_entries(SqlConnection& connection, const NumberedQuery& query) {
  return read_page<NumberedHealthEntry>(connection,
                                        "SELECT number, board, at, job, picoseconds, baseline_picoseconds, verdict, "
                                        "millidegrees, text FROM health_checks",
                                        query);
}

Status write_session(SqlConnection& connection, const SessionEntry& session) {
  FERRY_TRY(expect_name(session.holder));
  if (session.failure.size() > kMaxFailureBytes)
    return {ErrorCode::invalid_argument, format("expected the report of a failure of at most %zu bytes, got %zu",
                                                kMaxFailureBytes, session.failure.size())};
  std::string holder = session.holder;
  if (holder.empty()) {
    FERRY_ASSIGN(holder, holder_of(connection, session));
  }
  return execute(connection,
                 "INSERT INTO sessions (number, board, at, length, lease, holder, client, failure) "
                 "SELECT COALESCE(MAX(number), 0) + 1, $1, $2, $3, $4, $5, $6, $7 FROM sessions",
                 session.board, session.ended, session.length, session.lease, holder, session.client, session.failure)
      .status();
}

Result<std::vector<NumberedSessionEntry>> read_sessions(SqlConnection& connection, const NumberedQuery& query) {
  return read_page<NumberedSessionEntry>(
      connection, "SELECT number, board, at, length, lease, holder, client, failure FROM sessions", query);
}

Status write_health_state(SqlConnection& connection, BoardId board, const std::string& state) {
  return execute(connection,
                 "INSERT INTO health_states (board, state) VALUES ($1, $2) "
                 "ON CONFLICT (board) DO UPDATE SET state = excluded.state",
                 board, state)
      .status();
}

Result<std::vector<HealthState>> read_health_states(SqlConnection& connection) {
  FERRY_ASSIGN(const SqlResult result, execute(connection, "SELECT board, state FROM health_states ORDER BY board"));
  std::vector<HealthState> states;
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    HealthState& state = states.emplace_back();
    state.board = row.number<BoardId>();
    state.state = row.text();
    FERRY_TRY(row.status());
  }
  return states;
}

}  // namespace ferry::farm
