#include "farm/store/schema.h"

#include "base/format.h"

namespace ferry::farm {
namespace {

// Times and durations are in milliseconds; times count from 1970.
constexpr const char* kFirstVersion[] = {
    // One row: the term of the tracker that schedules, and the last commit of that term.
    "CREATE TABLE tracker (term BIGINT NOT NULL, last_commit BIGINT NOT NULL)",
    "INSERT INTO tracker VALUES (0, 0)",

    "CREATE TABLE boards (id BIGINT PRIMARY KEY, description TEXT NOT NULL, machine TEXT NOT NULL, "
    "shares_machine BIGINT NOT NULL, state BIGINT NOT NULL, boot_id BIGINT NOT NULL, baseline_millidegrees BIGINT, "
    "last_epoch BIGINT NOT NULL)",
    "CREATE TABLE requests (id BIGINT PRIMARY KEY, holder TEXT NOT NULL, slots TEXT NOT NULL, "
    "priority BIGINT NOT NULL, length BIGINT NOT NULL, wait BIGINT NOT NULL, kind BIGINT NOT NULL, "
    "is_health_check BIGINT NOT NULL, submitted BIGINT NOT NULL)",
    "CREATE TABLE leases (id BIGINT PRIMARY KEY REFERENCES requests (id) ON DELETE CASCADE, "
    "starts BIGINT NOT NULL, ends BIGINT NOT NULL, extension BIGINT NOT NULL)",
    "CREATE TABLE lease_parts (lease BIGINT NOT NULL REFERENCES leases (id) ON DELETE CASCADE, slot BIGINT NOT NULL, "
    "board BIGINT NOT NULL REFERENCES boards (id), epoch BIGINT NOT NULL, PRIMARY KEY (lease, slot))",
    "CREATE TABLE holders (holder TEXT PRIMARY KEY, weight DOUBLE PRECISION NOT NULL, "
    "board_seconds DOUBLE PRECISION NOT NULL, at BIGINT NOT NULL)",
    "CREATE TABLE hold_times (board BIGINT PRIMARY KEY REFERENCES boards (id), "
    "mean_seconds DOUBLE PRECISION NOT NULL)",

    "CREATE TABLE history (id BIGINT PRIMARY KEY, holder TEXT NOT NULL, slots TEXT NOT NULL, "
    "priority BIGINT NOT NULL, length BIGINT NOT NULL, wait BIGINT NOT NULL, kind BIGINT NOT NULL, "
    "is_health_check BIGINT NOT NULL, submitted BIGINT NOT NULL, starts BIGINT, ended BIGINT NOT NULL, "
    "reason BIGINT NOT NULL, text TEXT NOT NULL)",
    "CREATE INDEX history_by_time ON history (ended, id)",
    "CREATE INDEX history_by_holder ON history (holder, ended, id)",
    "CREATE TABLE history_parts (lease BIGINT NOT NULL REFERENCES history (id) ON DELETE CASCADE, "
    "slot BIGINT NOT NULL, board BIGINT NOT NULL, epoch BIGINT NOT NULL, ended BIGINT NOT NULL, "
    "PRIMARY KEY (lease, slot))",
    "CREATE INDEX history_parts_by_board ON history_parts (board, ended, lease)",

    "CREATE TABLE audit_log (number BIGINT PRIMARY KEY, at BIGINT NOT NULL, actor TEXT NOT NULL, "
    "action TEXT NOT NULL, board BIGINT, text TEXT NOT NULL)",
    "CREATE INDEX audit_log_by_time ON audit_log (at)",
    "CREATE INDEX audit_log_by_board ON audit_log (board, number)",
    "CREATE INDEX audit_log_by_actor ON audit_log (actor, number)",

    "CREATE TABLE credentials (kind BIGINT NOT NULL, id TEXT NOT NULL, salt TEXT NOT NULL, label TEXT NOT NULL, "
    "role BIGINT NOT NULL, token_hash TEXT, revoked BIGINT, PRIMARY KEY (kind, id))",
};

constexpr const char* kSecondVersion[] = {
    "ALTER TABLE boards ADD COLUMN enrolled_tags TEXT NOT NULL DEFAULT '{}'",
    // Keys are derived with 16 bytes of salt.
    "UPDATE credentials SET salt = SUBSTR(salt, 1, 32)",

    "CREATE TABLE health_checks (number BIGINT PRIMARY KEY, board BIGINT NOT NULL, at BIGINT NOT NULL, "
    "job TEXT NOT NULL, picoseconds BIGINT NOT NULL, baseline_picoseconds BIGINT NOT NULL, verdict TEXT NOT NULL, "
    "millidegrees BIGINT, text TEXT NOT NULL)",
    "CREATE INDEX health_checks_by_time ON health_checks (at)",
    "CREATE INDEX health_checks_by_board ON health_checks (board, number)",
    "CREATE TABLE health_states (board BIGINT PRIMARY KEY, state TEXT NOT NULL)",

    "CREATE TABLE sessions (number BIGINT PRIMARY KEY, board BIGINT NOT NULL, at BIGINT NOT NULL, "
    "length BIGINT NOT NULL, lease BIGINT NOT NULL, holder TEXT NOT NULL, client TEXT NOT NULL, "
    "failure TEXT NOT NULL)",
    "CREATE INDEX sessions_by_time ON sessions (at)",
    "CREATE INDEX sessions_by_board ON sessions (board, number)",
};

// Clients choose the ids of requests, so that one may end twice: each end has a number of its own, and none takes the
// place of another.
constexpr const char* kThirdVersion[] = {
    "CREATE TABLE ended_requests (number BIGINT PRIMARY KEY, id BIGINT NOT NULL, holder TEXT NOT NULL, "
    "slots TEXT NOT NULL, priority BIGINT NOT NULL, length BIGINT NOT NULL, wait BIGINT NOT NULL, kind BIGINT NOT "
    "NULL, is_health_check BIGINT NOT NULL, job TEXT NOT NULL, submitted BIGINT NOT NULL, starts BIGINT, "
    "ended BIGINT NOT NULL, reason BIGINT NOT NULL, text TEXT NOT NULL)",
    "INSERT INTO ended_requests SELECT ROW_NUMBER() OVER (ORDER BY ended, id), id, holder, slots, priority, length, "
    "wait, kind, is_health_check, '', submitted, starts, ended, reason, text FROM history",
    "CREATE INDEX ended_requests_by_time ON ended_requests (ended, id)",
    "CREATE INDEX ended_requests_by_holder ON ended_requests (holder, ended, id)",
    "CREATE TABLE ended_parts (number BIGINT NOT NULL REFERENCES ended_requests (number) ON DELETE CASCADE, "
    "slot BIGINT NOT NULL, lease BIGINT NOT NULL, board BIGINT NOT NULL, epoch BIGINT NOT NULL, "
    "ended BIGINT NOT NULL, PRIMARY KEY (number, slot))",
    "INSERT INTO ended_parts SELECT e.number, p.slot, p.lease, p.board, p.epoch, p.ended "
    "FROM history_parts p JOIN ended_requests e ON e.id = p.lease",
    "CREATE INDEX ended_parts_by_board ON ended_parts (board, ended, lease)",
    "CREATE INDEX ended_parts_by_epoch ON ended_parts (board, epoch)",
    "DROP TABLE history_parts",
    "DROP TABLE history",

    // When the end was decided on.
    "ALTER TABLE leases ADD COLUMN set_at BIGINT NOT NULL DEFAULT 0",
    "UPDATE leases SET set_at = starts",
    "ALTER TABLE requests ADD COLUMN job TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE credentials ADD COLUMN expires BIGINT",
};

constexpr Migration kMigrations[] = {kFirstVersion, kSecondVersion, kThirdVersion};

Status later_version(std::size_t expected, std::size_t version) {
  return {ErrorCode::version_mismatch,
          format("expected a database of version %zu, got version %zu, which a later ferry has written", expected,
                 version)};
}

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

Result<std::size_t> schema_version(SqlConnection& connection, const std::string& version_table) {
  FERRY_ASSIGN(const SqlResult result, execute(connection, "SELECT COALESCE(MAX(version), 0) FROM " + version_table));
  RowReader row(result.rows.at(0));
  const auto version = row.number<std::size_t>();
  FERRY_TRY(row.status());
  return version;
}

Status migrate(SqlConnection& connection, std::span<const Migration> steps, const std::string& version_table) {
  FERRY_ASSIGN(Transaction transaction, Transaction::begin(connection, Access::write));
  FERRY_TRY(
      execute(connection, "CREATE TABLE IF NOT EXISTS " + version_table + " (version BIGINT PRIMARY KEY)").status());
  FERRY_ASSIGN(const std::size_t version, schema_version(connection, version_table));
  if (version > steps.size()) return later_version(steps.size(), version);
  for (std::size_t step = version; step < steps.size(); ++step) {
    for (const char* statement : steps[step]) FERRY_TRY(execute(connection, statement).status());
    FERRY_TRY(execute(connection, "INSERT INTO " + version_table + " VALUES ($1)", step + 1).status());
  }
  return transaction.commit();
}

Status expect_version(SqlConnection& connection, std::span<const Migration> steps) {
  FERRY_ASSIGN(const std::size_t version, schema_version(connection));
  if (version > steps.size()) return later_version(steps.size(), version);
  if (version == steps.size()) return {};
  return {ErrorCode::version_mismatch,
          format("expected a database of version %zu, got version %zu, which cannot be updated because it is read-only",
                 steps.size(), version)};
}

}  // namespace ferry::farm
