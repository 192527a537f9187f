#include "farm/store/history_tables.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "farm/store/filter.h"
#include "farm/store/record_tables.h"

namespace ferry::farm {
namespace {

// With a board, the index of ended_parts finds and orders the leases.
Filter filter_of(const HistoryQuery& query) {
  const std::string ended = query.board ? "p.ended" : "h.ended", id = query.board ? "p.lease" : "h.id";
  Filter filter;
  if (query.board) filter.add("p.board = ?", *query.board);
  if (query.holder) filter.add("h.holder = ?", *query.holder);
  if (query.from) filter.add(ended + " >= ?", *query.from);
  if (query.until) filter.add(ended + " < ?", *query.until);
  if (query.before) filter.add("(" + ended + ", " + id + ") < (?, ?)", query.before->ended, query.before->id);
  filter.end(ended + " DESC, " + id + " DESC, h.number DESC", query.limit);
  return filter;
}

Result<EndedLease> read_ended_lease(RowReader& row) {
  FERRY_ASSIGN(RequestRecord request, read_request(row));
  EndedLease lease;
  lease.request = std::move(request.request);
  lease.submitted = request.submitted;
  if (!row.is_null()) lease.start = row.time();
  lease.ended = row.time();
  lease.reason = row.number<EndReason>();
  lease.text = row.text();
  FERRY_TRY(row.status());
  return lease;
}

}  // namespace

Result<std::vector<EndedLease>> read_ended_leases(SqlConnection& connection, const HistoryQuery& query) {
  const std::string source =
      query.board ? "ended_parts p JOIN ended_requests h ON h.number = p.number" : std::string("ended_requests h");
  const Filter filter = filter_of(query);
  const std::string statement =
      "SELECT h.number, h.id, h.holder, h.slots, h.priority, h.length, h.wait, h.kind, "
      "h.is_health_check, h.job, h.submitted, h.starts, h.ended, h.reason, h.text FROM " +
      source + filter.text();
  FERRY_ASSIGN(const SqlResult result, execute_checked(connection, statement, filter.parameters()));
  std::vector<EndedLease> leases;
  leases.reserve(result.rows.size());
  std::unordered_map<std::uint64_t, EndedLease*> by_number;
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    const auto number = row.number<std::uint64_t>();
    FERRY_ASSIGN(EndedLease lease, read_ended_lease(row));
    leases.push_back(std::move(lease));
    by_number[number] = &leases.back();
  }
  const std::string parts_statement =
      "SELECT number, board, epoch FROM ended_parts WHERE number IN (SELECT h.number FROM " + source + filter.text() +
      ") ORDER BY number, slot";
  FERRY_ASSIGN(const SqlResult parts, execute_checked(connection, parts_statement, filter.parameters()));
  for (const SqlRow& columns : parts.rows) {
    RowReader row(columns);
    const auto lease = by_number.find(row.number<std::uint64_t>());
    const auto board = row.number<BoardId>();
    const auto epoch = row.number<lease::Epoch>();
    FERRY_TRY(row.status());
    if (lease != by_number.end()) lease->second->parts.push_back({board, epoch});
  }
  return leases;
}

Status write_audit_entry(SqlConnection& connection, const AuditEntry& entry) {
  FERRY_TRY(expect_name(entry.actor));
  return execute(connection,
                 "INSERT INTO audit_log (number, at, actor, action, board, text) "
                 "SELECT COALESCE(MAX(number), 0) + 1, $1, $2, $3, $4, $5 FROM audit_log",
                 entry.at, entry.actor, entry.action, entry.board, entry.text)
      .status();
}

Result<std::vector<NumberedAuditEntry>> read_audit_log(SqlConnection& connection, const AuditQuery& query) {
  Filter filter;
  if (query.board) filter.add("board = ?", *query.board);
  if (query.actor) filter.add("actor = ?", *query.actor);
  if (query.from) filter.add("at >= ?", *query.from);
  if (query.until) filter.add("at < ?", *query.until);
  if (query.before) filter.add("number < ?", *query.before);
  filter.end("number DESC", query.limit);
  FERRY_ASSIGN(
      const SqlResult result,
      execute_checked(connection, "SELECT number, at, actor, action, board, text FROM audit_log" + filter.text(),
                      filter.parameters()));
  std::vector<NumberedAuditEntry> entries;
  entries.reserve(result.rows.size());
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    NumberedAuditEntry& numbered = entries.emplace_back();
    numbered.number = row.number<std::uint64_t>();
    numbered.entry.at = row.time();
    numbered.entry.actor = row.text();
    numbered.entry.action = row.text();
    if (!row.is_null()) numbered.entry.board = row.number<BoardId>();
    numbered.entry.text = row.text();
    FERRY_TRY(row.status());
  }
  return entries;
}

Result<bool> purge_history(SqlConnection& connection, Time before, std::size_t limit) {
  FERRY_ASSIGN(const SqlResult leases, execute(connection,
                                               "DELETE FROM ended_requests WHERE number IN (SELECT number FROM "
                                               "ended_requests WHERE ended < $1 ORDER BY ended, id LIMIT $2)",
                                               before, limit));
  bool has_more = leases.changed == limit;
  for (const char* table : {"audit_log", "health_checks", "sessions"}) {
    const std::string name(table);
    // The newest entry stays, so that numbers keep increasing.
    FERRY_ASSIGN(const SqlResult entries, execute(connection,
                                                  "DELETE FROM " + name + " WHERE number IN (SELECT number FROM " +
                                                      name + " WHERE at < $1 AND number < (SELECT MAX(number) FROM " +
                                                      name + ") ORDER BY at, number LIMIT $2)",
                                                  before, limit));
    has_more |= entries.changed == limit;
  }
  return has_more;
}

}  // namespace ferry::farm
