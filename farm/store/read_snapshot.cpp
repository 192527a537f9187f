#include "farm/store/record_tables.h"

#include <unordered_map>

#include "farm/store/columns.h"

namespace ferry::farm {
namespace {

Status read_parts(SqlConnection& connection, std::vector<LeaseRecord>& leases) {
  std::unordered_map<LeaseId, LeaseRecord*> by_id;
  for (LeaseRecord& lease : leases) by_id[lease.id] = &lease;
  FERRY_ASSIGN(const SqlResult result,
               execute(connection, "SELECT lease, board, epoch FROM lease_parts ORDER BY lease, slot"));
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    const auto lease = by_id.find(row.number<LeaseId>());
    const auto board = row.number<BoardId>();
    const auto epoch = row.number<lease::Epoch>();
    FERRY_TRY(row.status());
    if (lease == by_id.end()) return {ErrorCode::device_error, "the database is damaged: a board of an unknown lease"};
    lease->second->parts.push_back({board, epoch});
  }
  return {};
}

}  // namespace

Result<Snapshot> read_snapshot(SqlConnection& connection) {
  Snapshot snapshot;
  FERRY_ASSIGN(snapshot.boards, read_rows<BoardRecord>(connection, "boards", " ORDER BY id"));
  FERRY_ASSIGN(snapshot.requests, read_rows<RequestRecord>(connection, "requests", " ORDER BY submitted, id"));
  FERRY_ASSIGN(snapshot.leases, read_rows<LeaseRecord>(connection, "leases", " ORDER BY id"));
  FERRY_TRY(read_parts(connection, snapshot.leases));
  FERRY_ASSIGN(snapshot.holders, read_rows<HolderRecord>(connection, "holders", " ORDER BY holder"));
  FERRY_ASSIGN(snapshot.hold_times, read_rows<HoldTimeRecord>(connection, "hold_times", " ORDER BY board"));
  return snapshot;
}

}  // namespace ferry::farm
