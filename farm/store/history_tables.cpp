#include "farm/store/history_tables.h"

#include <string>
#include <unordered_map>
#include <utility>

#include "farm/store/columns.h"

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

}  // namespace

Result<std::vector<EndedLease>> read_ended_leases(SqlConnection& connection, const HistoryQuery& query) {
  const std::string source =
      query.board ? "ended_parts p JOIN ended_requests h ON h.number = p.number" : std::string("ended_requests h");
  const Filter filter = filter_of(query);
  const std::string statement =
      "SELECT h.number, " + joined_columns(column_names<EndedLease>(), "h.") + " FROM " + source + filter.text();
  FERRY_ASSIGN(const SqlResult result, execute_checked(connection, statement, filter.parameters()));
  std::vector<EndedLease> leases;
  leases.reserve(result.rows.size());
  std::unordered_map<std::uint64_t, EndedLease*> by_number;
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    const auto number = row.number<std::uint64_t>();
    EndedLease& lease = leases.emplace_back();
    FERRY_TRY(read_columns(row, lease));
    FERRY_TRY(row.status());
    by_number[number] = &lease;
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
  return append(connection, "audit_log", entry);
}

Result<std::vector<NumberedAuditEntry>> read_audit_log(SqlConnection& connection, const AuditQuery& query) {
  Filter filter;
  if (query.board) filter.add("board = ?", *query.board);
  if (query.actor) filter.add("actor = ?", *query.actor);
  if (query.from) filter.add("at >= ?", *query.from);
  if (query.until) filter.add("at < ?", *query.until);
  if (query.before) filter.add("number < ?", *query.before);
  filter.end("number DESC", query.limit);
  return read_rows<NumberedAuditEntry>(connection, "audit_log", filter);
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
