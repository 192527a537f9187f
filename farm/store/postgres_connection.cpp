#include "farm/store/postgres_connection.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/hex.h"
#include "base/printable.h"

namespace ferry::farm {
namespace {

// Type numbers of PostgreSQL's catalog (pg_type.dat), which never change.
constexpr Oid kBytea = 17, kInt8 = 20, kInt4 = 23, kText = 25, kFloat8 = 701;

// A server or a host that falls silent is noticed within 10 s on both sides, so that a standby takes over.
constexpr const char* kSettings =
    "SET client_encoding = 'UTF8'; SET bytea_output = 'hex'; SET statement_timeout = '10s'; SET lock_timeout = '2s'; "
    "SET idle_in_transaction_session_timeout = '10s'; SET tcp_keepalives_idle = 4; SET tcp_keepalives_interval = 2; "
    "SET tcp_keepalives_count = 3; SET tcp_user_timeout = 10000; "
    // All that is acknowledged is on disk, whatever the server's default is; stricter ones stay.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'; "
    "SHOW server_encoding";

// Before bytes in hexadecimal digits.
constexpr std::string_view kHexPrefix = "\\x";

// Advisory locks, by ferry's number ("ferr") and one of the purpose.
constexpr const char* kTrySchedulingLock = "SELECT CAST(pg_try_advisory_lock(1717924466, 1) AS INTEGER)";
// A tracker that has stopped keeps its connection, so the server ends the session of the one that schedules when it is
// silent for so many milliseconds. PostgreSQL before version 14 cannot.
constexpr const char* kEndIfSilent =
    "SELECT set_config('idle_session_timeout', '%lld', false) "
    "WHERE current_setting('idle_session_timeout', true) IS NOT NULL";
constexpr const char* kAnnounce = "NOTIFY ferry_farm";
constexpr const char* kListen = "LISTEN ferry_farm";
// Announcements are told after the statement, when the lock is free.
constexpr const char* kResign = "SELECT pg_advisory_unlock(1717924466, 1); NOTIFY ferry_farm";
constexpr const char* kBeginRead = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

Oid type_of(const SqlValue& value) {
  if (std::holds_alternative<std::int64_t>(value)) return kInt8;
  if (std::holds_alternative<double>(value)) return kFloat8;
  if (std::holds_alternative<std::string>(value)) return kText;
  if (std::holds_alternative<SqlBytes>(value)) return kBytea;
  return 0;  // from the place where it stands
}

std::string parameter_text(const SqlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&value)) return format("%.17g", *number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* bytes = std::get_if<SqlBytes>(&value)) return std::string(kHexPrefix) + hex_text(*bytes);
  return {};
}

// Nothing if the text is none of bytes.
SqlValue bytes_value(std::string_view text) {
  if (!text.starts_with(kHexPrefix)) return {};
  text.remove_prefix(kHexPrefix.size());
  SqlBytes bytes(text.size() / 2);
  if (!parse_hex(text, bytes)) return {};
  return bytes;
}

SqlValue value_of(std::string_view text, Oid type) {
  if (type == kBytea) return bytes_value(text);
  if (type == kInt8 || type == kInt4) {
    std::int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  if (type == kFloat8) {
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  return std::string(text);
}

// By the class of the code, its first two characters, where that says enough (PostgreSQL's documentation, appendix A).
ErrorCode code_of(std::string_view sqlstate) {
  const std::string_view family = sqlstate.substr(0, 2);
  if (sqlstate == "25006" || sqlstate == "25P03") return ErrorCode::unavailable;  // a replica; it took too long
  if (sqlstate == "55P03" || family == "40") return ErrorCode::busy;              // locks and deadlocks
  if (sqlstate == "3D000") return ErrorCode::not_found;                           // there is no such database
  if (sqlstate == "42501" || family == "28") return ErrorCode::unauthenticated;
  if (family == "08" || family == "57") return ErrorCode::unavailable;  // the connection; the server stops
  if (family == "53") return ErrorCode::resource_exhausted;
  if (family == "58" || family == "XX") return ErrorCode::device_error;
  return ErrorCode::internal;
}

// Messages of libpq end in a line feed and may have several lines.
std::string message_text(std::string_view message) {
  while (!message.empty() && message.back() == '\n') message.remove_suffix(1);
  return printable(message);
}

}  // namespace

struct PostgresConnection::Answer {
  Answer(const LibpqApi& api, PGresult* taken) : clear(api.PQclear), result(taken) {}
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() { clear(result); }

  decltype(&::PQclear) clear;
  PGresult* result;
};

Result<std::unique_ptr<PostgresConnection>> PostgresConnection::open(const std::string& uri, Writers writers,
                                                                     std::chrono::milliseconds right_lasts) {
  FERRY_ASSIGN(const LibpqApi api, load_libpq());
  std::unique_ptr<PostgresConnection> connection(new PostgresConnection(api, uri, writers, right_lasts));
  FERRY_TRY(connection->connect());
  return connection;
}

PostgresConnection::~PostgresConnection() {
  if (has_lock_ && is_connected()) static_cast<void>(run(kResign));
  disconnect();
}

Status PostgresConnection::connect() {
  disconnect();
  // The URI may override what stands before it.
  const char* const keywords[] = {"connect_timeout",  "tcp_user_timeout", "keepalives_idle", "keepalives_interval",
                                  "keepalives_count", "application_name", "dbname",          nullptr};
  const char* const values[] = {"5", "10000", "4", "2", "3", "ferry", uri_.c_str(), nullptr};
  connection_ = api_.PQconnectdbParams(keywords, values, 1);
  if (!is_connected()) return failure(nullptr);
  api_.PQsetNoticeProcessor(connection_, [](void*, const char*) {}, nullptr);
  const Status is_set_up = set_up();
  if (!is_set_up.is_ok()) disconnect();
  return is_set_up;
}

Status PostgresConnection::set_up() {
  const Answer answer = send(kSettings);
  if (api_.PQresultStatus(answer.result) != PGRES_TUPLES_OK) return failure(answer.result);
  const std::string encoding = api_.PQgetvalue(answer.result, 0, 0);
  if (encoding == "UTF8") return {};
  return {ErrorCode::invalid_argument,
          format("expected a database whose encoding is UTF8, got %s", printable(encoding).c_str())};
}

void PostgresConnection::disconnect() {
  if (connection_ != nullptr) api_.PQfinish(connection_);
  connection_ = nullptr;
  has_lock_ = false;
  prepared_.clear();
}

Status PostgresConnection::failure(const PGresult* result) const {
  const char* sqlstate = result == nullptr ? nullptr : api_.PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string why = message_text(api_.PQerrorMessage(connection_));
  if (sqlstate == nullptr || !is_connected())
    return {ErrorCode::unavailable, format("cannot reach PostgreSQL: %s", why.c_str())};
  return {code_of(sqlstate), format("PostgreSQL: %s (%s)", why.c_str(), printable(sqlstate).c_str())};
}

PostgresConnection::Answer PostgresConnection::send(const char* statements) {
  return Answer(api_, api_.PQexec(connection_, statements));
}

Status PostgresConnection::run(const char* statements) {
  const Answer answer = send(statements);
  const ExecStatusType status = api_.PQresultStatus(answer.result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ? Status() : failure(answer.result);
}

Result<const char*> PostgresConnection::prepare(const std::string& statement, std::span<const SqlValue> parameters) {
  std::string& name = prepared_[statement];
  if (!name.empty()) return name.c_str();
  std::vector<Oid> types;
  for (const SqlValue& value : parameters) types.push_back(type_of(value));
  const std::string new_name = "ferry_" + std::to_string(prepared_.size());
  const Answer answer(api_, api_.PQprepare(connection_, new_name.c_str(), statement.c_str(),
                                           static_cast<int>(types.size()), types.data()));
  if (api_.PQresultStatus(answer.result) != PGRES_COMMAND_OK) {
    prepared_.erase(statement);
    return failure(answer.result);
  }
  name = new_name;
  return name.c_str();
}

Result<SqlResult> PostgresConnection::execute(const std::string& statement, std::span<const SqlValue> parameters) {
  FERRY_ASSIGN(const char* name, prepare(statement, parameters));
  std::vector<std::string> texts;
  std::vector<const char*> values;
  for (const SqlValue& value : parameters) texts.push_back(parameter_text(value));
  for (std::size_t i = 0; i < texts.size(); ++i)
    values.push_back(std::holds_alternative<std::monostate>(parameters[i]) ? nullptr : texts[i].c_str());
  const Answer answer(api_, api_.PQexecPrepared(connection_, name, static_cast<int>(values.size()), values.data(),
                                                nullptr, nullptr, 0));
  const ExecStatusType status = api_.PQresultStatus(answer.result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return failure(answer.result);

  SqlResult result;
  const std::string_view changed = api_.PQcmdTuples(answer.result);
  std::from_chars(changed.data(), changed.data() + changed.size(), result.changed);
  const int columns = api_.PQnfields(answer.result);
  for (int row = 0; row < api_.PQntuples(answer.result); ++row) {
    SqlRow& fields = result.rows.emplace_back();
    for (int column = 0; column < columns; ++column) {
      const std::string_view text(api_.PQgetvalue(answer.result, row, column),
                                  static_cast<std::size_t>(api_.PQgetlength(answer.result, row, column)));
      fields.push_back(api_.PQgetisnull(answer.result, row, column) != 0
                           ? SqlValue()
                           : value_of(text, api_.PQftype(answer.result, column)));
    }
  }
  return result;
}

Status PostgresConnection::begin(Access access) {
  FERRY_TRY(ensure_connected());
  if (wants_lock_ && !has_lock_) FERRY_TRY(try_lock().status());
  const Status begun = run(access == Access::write ? begin_write_.c_str() : kBeginRead);
  // It may have begun, and then waited too long for another one's end.
  if (!begun.is_ok()) roll_back();
  return begun;
}

// The server answers the commit of a transaction that has failed by rolling it back, and calls that a success.
Status PostgresConnection::commit() {
  const Answer answer = send("COMMIT");
  if (api_.PQresultStatus(answer.result) != PGRES_COMMAND_OK) return failure(answer.result);
  if (std::strcmp(api_.PQcmdStatus(answer.result), "COMMIT") == 0) return {};
  return {ErrorCode::internal, "PostgreSQL has rolled back a transaction that was to be committed"};
}

void PostgresConnection::roll_back() {
  if (is_connected() && api_.PQtransactionStatus(connection_) != PQTRANS_IDLE) static_cast<void>(run("ROLLBACK"));
}

Result<bool> PostgresConnection::try_lock() {
  FERRY_ASSIGN(const SqlResult result, execute(kTrySchedulingLock, {}));
  RowReader row(result.rows.at(0));
  has_lock_ = row.number<bool>();
  FERRY_TRY(row.status());
  if (has_lock_) FERRY_TRY(run(format(kEndIfSilent, static_cast<long long>(right_lasts_.count())).c_str()));
  return has_lock_;
}

Status PostgresConnection::lock_scheduling() {
  FERRY_TRY(ensure_connected());
  if (!has_lock_) FERRY_TRY(try_lock().status());
  wants_lock_ = has_lock_;
  if (has_lock_) return {};
  return {ErrorCode::busy, "another tracker schedules the boards of this database"};
}

Status PostgresConnection::announce_change() { return run(kAnnounce); }

Status PostgresConnection::listen() { return run(kListen); }

Result<bool> PostgresConnection::take_changes() {
  if (api_.PQconsumeInput(connection_) == 0 || !is_connected()) return failure(nullptr);
  bool has_changed = false;
  while (PGnotify* notice = api_.PQnotifies(connection_)) {
    has_changed = true;
    api_.PQfreemem(notice);
  }
  return has_changed;
}

Result<Time> PostgresConnection::now() {
  FERRY_TRY(ensure_connected());
  FERRY_ASSIGN(const SqlResult result,
               execute("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)", {}));
  RowReader row(result.rows.at(0));
  const Time time = row.time();
  FERRY_TRY(row.status());
  return time;
}

}  // namespace ferry::farm
