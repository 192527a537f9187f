#include "base/format.h"
#include "farm/store/record_tables.h"
#include "farm/store/record_text.h"

namespace ferry::farm {
namespace {

// These are stored, so their values never change.
static_assert(static_cast<int>(BoardState::good) == 0 && static_cast<int>(BoardState::unknown) == 1 &&
              static_cast<int>(BoardState::suspect) == 2 && static_cast<int>(BoardState::bad) == 3 &&
              static_cast<int>(BoardState::maintenance) == 4 && static_cast<int>(BoardState::retired) == 5);
static_assert(static_cast<int>(LeaseKind::attached) == 0 && static_cast<int>(LeaseKind::reserved) == 1);

// Records of the lease machine fit the tables, so anything else is a bug.
Status expect_changed(const Result<SqlResult>& result, const char* what, std::uint64_t id) {
  FERRY_TRY(result.status());
  if (result.value().changed == 1) return {};
  return {ErrorCode::internal,
          format("expected %s %llu in the database, got none", what, static_cast<unsigned long long>(id))};
}

struct Writer {
  SqlConnection& connection;

  Status operator()(const BoardRecord& record) const {
    FERRY_ASSIGN(const std::string description, description_text(record.description));
    FERRY_ASSIGN(const std::string enrolled_tags, tags_text(record.enrolled_tags));
    return execute(connection,
                   "INSERT INTO boards (id, description, machine, shares_machine, state, boot_id, "
                   "baseline_millidegrees, last_epoch, enrolled_tags) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) "
                   "ON CONFLICT (id) DO UPDATE SET description = excluded.description, machine = excluded.machine, "
                   "shares_machine = excluded.shares_machine, state = excluded.state, boot_id = excluded.boot_id, "
                   "baseline_millidegrees = excluded.baseline_millidegrees, last_epoch = excluded.last_epoch, "
                   "enrolled_tags = excluded.enrolled_tags",
                   record.id, description, record.machine, record.shares_machine, record.state, record.boot_id,
                   record.baseline_millidegrees, record.last_epoch, enrolled_tags)
        .status();
  }

  Status operator()(const EpochRecord& record) const {
    return expect_changed(
        execute(connection, "UPDATE boards SET last_epoch = $1 WHERE id = $2", record.last_epoch, record.board),
        "board", static_cast<std::uint64_t>(record.board));
  }

  // An upsert and not INSERT OR REPLACE, which would delete the request's lease.
  Status operator()(const RequestRecord& record) const {
    const Request& request = record.request;
    FERRY_TRY(expect_name(request.holder));
    FERRY_ASSIGN(const std::string slots, slots_text(request.slots));
    return execute(connection,
                   "INSERT INTO requests (id, holder, slots, priority, length, wait, kind, is_health_check, job, "
                   "submitted) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO UPDATE SET "
                   "holder = excluded.holder, slots = excluded.slots, priority = excluded.priority, "
                   "length = excluded.length, wait = excluded.wait, kind = excluded.kind, "
                   "is_health_check = excluded.is_health_check, job = excluded.job, submitted = excluded.submitted",
                   request.id, request.holder, slots, request.priority, request.length, request.wait, request.kind,
                   request.is_health_check, request.job, record.submitted)
        .status();
  }

  Status operator()(const LeaseRecord& record) const {
    FERRY_TRY(execute(connection,
                      "INSERT INTO leases (id, starts, ends, extension, set_at) VALUES ($1, $2, $3, $4, $5) "
                      "ON CONFLICT (id) DO UPDATE SET starts = excluded.starts, ends = excluded.ends, "
                      "extension = excluded.extension, set_at = excluded.set_at",
                      record.id, record.start, record.end, record.extension, record.set_at)
                  .status());
    FERRY_TRY(execute(connection, "DELETE FROM lease_parts WHERE lease = $1", record.id).status());
    for (std::size_t slot = 0; slot < record.parts.size(); ++slot)
      FERRY_TRY(execute(connection, "INSERT INTO lease_parts (lease, slot, board, epoch) VALUES ($1, $2, $3, $4)",
                        record.id, slot, record.parts[slot].board, record.parts[slot].epoch)
                    .status());
    return {};
  }

  Status operator()(const RollbackRecord& record) const {
    return expect_changed(execute(connection, "DELETE FROM leases WHERE id = $1", record.id), "the lease",
                          static_cast<std::uint64_t>(record.id));
  }

  Status operator()(const EndRecord& record) const {
    const auto moved = execute(
        connection,
        "INSERT INTO ended_requests (number, id, holder, slots, priority, length, wait, kind, is_health_check, job, "
        "submitted, starts, ended, reason, text) SELECT (SELECT COALESCE(MAX(number), 0) + 1 FROM ended_requests), "
        "r.id, r.holder, r.slots, r.priority, r.length, r.wait, r.kind, r.is_health_check, r.job, r.submitted, "
        "l.starts, $1, $2, $3 FROM requests r LEFT JOIN leases l ON l.id = r.id WHERE r.id = $4",
        record.at, record.reason, record.text, record.id);
    FERRY_TRY(expect_changed(moved, "the request", static_cast<std::uint64_t>(record.id)));
    FERRY_TRY(execute(connection,
                      "INSERT INTO ended_parts (number, slot, lease, board, epoch, ended) "
                      "SELECT (SELECT MAX(number) FROM ended_requests), slot, lease, board, epoch, $1 "
                      "FROM lease_parts WHERE lease = $2",
                      record.at, record.id)
                  .status());
    return execute(connection, "DELETE FROM requests WHERE id = $1", record.id).status();
  }

  Status operator()(const HolderRecord& record) const {
    FERRY_TRY(expect_name(record.holder));
    return execute(connection,
                   "INSERT INTO holders (holder, weight, board_seconds, at) VALUES ($1, $2, $3, $4) "
                   "ON CONFLICT (holder) DO UPDATE SET weight = excluded.weight, "
                   "board_seconds = excluded.board_seconds, at = excluded.at",
                   record.holder, record.weight, record.board_seconds, record.at)
        .status();
  }

  Status operator()(const HoldTimeRecord& record) const {
    return execute(connection,
                   "INSERT INTO hold_times (board, mean_seconds) VALUES ($1, $2) "
                   "ON CONFLICT (board) DO UPDATE SET mean_seconds = excluded.mean_seconds",
                   record.board, record.mean_seconds)
        .status();
  }
};

}  // namespace

Status write_record(SqlConnection& connection, const Record& record) { return std::visit(Writer{connection}, record); }

}  // namespace ferry::farm
