#include "farm/store/record_tables.h"

#include <string>
#include <unordered_map>

#include "farm/store/record_text.h"

namespace ferry::farm {
namespace {

Result<BoardRecord> read_board(RowReader& row) {
  BoardRecord record;
  record.id = row.number<BoardId>();
  FERRY_ASSIGN(record.description, parse_description(row.text()));
  record.machine = row.text();
  record.shares_machine = row.number<bool>();
  record.state = row.number<BoardState>();
  record.boot_id = row.number<std::uint64_t>();
  if (!row.is_null()) record.baseline_millidegrees = row.number<std::int32_t>();
  record.last_epoch = row.number<lease::Epoch>();
  FERRY_ASSIGN(record.enrolled_tags, parse_tags(row.text()));
  return record;
}

Result<LeaseRecord> read_lease(RowReader& row) {
  LeaseRecord record;
  record.id = row.number<LeaseId>();
  record.start = row.time();
  record.end = row.time();
  record.extension = row.number<std::uint32_t>();
  record.set_at = row.time();
  return record;
}

Result<HolderRecord> read_holder(RowReader& row) {
  HolderRecord record;
  record.holder = row.text();
  record.weight = row.real();
  record.board_seconds = row.real();
  record.at = row.time();
  return record;
}

Result<HoldTimeRecord> read_hold_time(RowReader& row) {
  HoldTimeRecord record;
  record.board = row.number<BoardId>();
  record.mean_seconds = row.real();
  return record;
}

// Appends a record for each row that the statement selects.
template <class T>
Status read_all(SqlConnection& connection, const std::string& statement, Result<T> (*read)(RowReader&),
                std::vector<T>& records) {
  FERRY_ASSIGN(const SqlResult result, execute(connection, statement));
  records.reserve(result.rows.size());
  for (const SqlRow& columns : result.rows) {
    RowReader row(columns);
    FERRY_ASSIGN(T record, read(row));
    FERRY_TRY(row.status());
    records.push_back(std::move(record));
  }
  return {};
}

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

Result<RequestRecord> read_request(RowReader& row) {
  RequestRecord record;
  Request& request = record.request;
  request.id = row.number<LeaseId>();
  request.holder = row.text();
  FERRY_ASSIGN(request.slots, parse_slots(row.text()));
  request.priority = row.number<std::uint32_t>();
  request.length = row.duration();
  request.wait = row.duration();
  request.kind = row.number<LeaseKind>();
  request.is_health_check = row.number<bool>();
  request.job = row.text();
  record.submitted = row.time();
  return record;
}

Result<Snapshot> read_snapshot(SqlConnection& connection) {
  Snapshot snapshot;
  FERRY_TRY(read_all(connection,
                     "SELECT id, description, machine, shares_machine, state, boot_id, baseline_millidegrees, "
                     "last_epoch, enrolled_tags FROM boards ORDER BY id",
                     read_board, snapshot.boards));
  FERRY_TRY(read_all(connection, std::string("SELECT ") + kRequestColumns + " FROM requests ORDER BY submitted, id",
                     read_request, snapshot.requests));
  FERRY_TRY(read_all(connection, "SELECT id, starts, ends, extension, set_at FROM leases ORDER BY id", read_lease,
                     snapshot.leases));
  FERRY_TRY(read_parts(connection, snapshot.leases));
  FERRY_TRY(read_all(connection, "SELECT holder, weight, board_seconds, at FROM holders ORDER BY holder", read_holder,
                     snapshot.holders));
  FERRY_TRY(read_all(connection, "SELECT board, mean_seconds FROM hold_times ORDER BY board", read_hold_time,
                     snapshot.hold_times));
  return snapshot;
}

}  // namespace ferry::farm
