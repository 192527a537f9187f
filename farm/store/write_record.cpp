#include "base/format.h"
#include "farm/store/columns.h"
#include "farm/store/record_tables.h"

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

  Status operator()(const BoardRecord& record) const { return upsert(connection, "boards", record); }

  Status operator()(const EpochRecord& record) const {
    return expect_changed(
        execute(connection, "UPDATE boards SET last_epoch = $1 WHERE id = $2", record.last_epoch, record.board),
        "board", static_cast<std::uint64_t>(record.board));
  }

  // An upsert and not INSERT OR REPLACE, which would delete the request's lease.
  Status operator()(const RequestRecord& record) const {
    FERRY_TRY(expect_name(record.request.holder));
    return upsert(connection, "requests", record);
  }

  Status operator()(const LeaseRecord& record) const {
    FERRY_TRY(upsert(connection, "leases", record));
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
    static const std::vector<std::string> kColumns = column_names<RequestRecord>();
    const auto moved =
        execute(connection,
                "INSERT INTO ended_requests (number, " + joined_columns(kColumns) +
                    ", starts, ended, reason, text) SELECT "
                    "(SELECT COALESCE(MAX(number), 0) + 1 FROM ended_requests), " +
                    joined_columns(kColumns, "r.") +
                    ", "
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
    return upsert(connection, "holders", record);
  }

  Status operator()(const HoldTimeRecord& record) const { return upsert(connection, "hold_times", record); }
};

}  // namespace

Status write_record(SqlConnection& connection, const Record& record) { return std::visit(Writer{connection}, record); }

}  // namespace ferry::farm
