#include "farm/store/sqlite_connection.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/descriptor.h"
#include "base/format.h"
#include "base/printable.h"

namespace ferry::farm {
namespace {

constexpr int kBusyTimeoutMilliseconds = 1000;

// So much of a disk is left to others, but of a small one a quarter. SQLite's log needs some of it.
constexpr std::uint64_t kLeftToOthers = std::uint64_t{64} << 20;

bool is_full(int system_error) { return system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG; }

// SQLite has a code for a full disk, but not for quotas and limits. The system's error stays with the file, which is
// the log or the database.
bool is_full(sqlite3* database) {
  const int code = sqlite3_errcode(database) & 0xff;
  if (code != SQLITE_IOERR) return code == SQLITE_FULL || code == SQLITE_NOMEM;
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    int error = 0;
    if (sqlite3_file_control(database, "main", which, &file) != SQLITE_OK || file == nullptr ||
        file->pMethods == nullptr)
      continue;
    if (file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error) == SQLITE_OK && is_full(error)) return true;
  }
  return false;
}

bool bind(sqlite3_stmt* statement, int position, const SqlValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value))
    return sqlite3_bind_int64(statement, position, *number) == SQLITE_OK;
  if (const auto* number = std::get_if<double>(&value))
    return sqlite3_bind_double(statement, position, *number) == SQLITE_OK;
  if (const auto* text = std::get_if<std::string>(&value))
    return sqlite3_bind_text64(statement, position, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8) ==
           SQLITE_OK;
  if (const auto* bytes = std::get_if<SqlBytes>(&value)) {
    // A null pointer would be NULL instead of an empty value.
    const void* first = bytes->empty() ? static_cast<const void*>("") : bytes->data();
    return sqlite3_bind_blob64(statement, position, first, bytes->size(), SQLITE_STATIC) == SQLITE_OK;
  }
  return sqlite3_bind_null(statement, position) == SQLITE_OK;
}

SqlValue column(sqlite3_stmt* statement, int number) {
  switch (sqlite3_column_type(statement, number)) {
    case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(statement, number)};
    case SQLITE_FLOAT: return sqlite3_column_double(statement, number);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, number));
      if (text == nullptr) return {};  // no memory
      return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, number)));
    }
    case SQLITE_BLOB: {
      const auto* first = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement, number));
      const auto count = static_cast<std::size_t>(sqlite3_column_bytes(statement, number));
      if (first == nullptr && count > 0) return {};  // no memory
      return first == nullptr ? SqlBytes() : SqlBytes(first, first + count);
    }
  }
  return {};
}

// SQLite would let everybody read what it creates. Its other files take the mode of this one. A file that exists is not
// opened: closing it would release the locks that other connections of this process hold on it.
Status create_private(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  const int error = errno;
  if (file.number() >= 0 || error == EEXIST) return {};
  return {is_full(error) ? ErrorCode::resource_exhausted : ErrorCode::invalid_argument,
          format("cannot open the database %s: %s", printable(path).c_str(), std::strerror(error))};
}

}  // namespace

Result<std::unique_ptr<SqliteConnection>> SqliteConnection::open(const std::string& path, Access access,
                                                                 const char* journal_mode) {
  if (access == Access::write) FERRY_TRY(create_private(path));
  sqlite3* opened = nullptr;
  const int mode = access == Access::write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  // Names such as :memory: and file:x mean something else to SQLite.
  const std::string name = path.starts_with('/') ? path : "./" + path;
  const int code = sqlite3_open_v2(name.c_str(), &opened, mode | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX, nullptr);
  std::unique_ptr<SqliteConnection> connection(new SqliteConnection(path, Database(opened)));
  if (opened == nullptr) return Status(ErrorCode::resource_exhausted, "there is no memory for a database");
  if (code != SQLITE_OK) return connection->failure();
  sqlite3_busy_timeout(opened, kBusyTimeoutMilliseconds);
  // A damaged or hostile file must not run code or reach outside of its tables.
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  FERRY_TRY(connection->run("PRAGMA trusted_schema = OFF"));
  FERRY_TRY(connection->run("PRAGMA foreign_keys = ON"));
  if (access == Access::write) {
    FERRY_TRY(connection->run(format("PRAGMA journal_mode = %s", journal_mode).c_str()));
    FERRY_TRY(connection->run("PRAGMA synchronous = FULL"));
  }
  return connection;
}

Status SqliteConnection::failure() const {
  const int code = sqlite3_errcode(database_.get()) & 0xff;
  const std::string path = printable(path_);
  const std::string why = printable(sqlite3_errmsg(database_.get()));
  if (is_full(database_.get()))
    return {ErrorCode::resource_exhausted, format("no room for the database %s: %s", path.c_str(), why.c_str())};
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::busy, format("the database %s is held by another process: %s", path.c_str(), why.c_str())};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return {ErrorCode::invalid_argument, format("cannot open the database %s: %s", path.c_str(), why.c_str())};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::device_error, format("the database %s is damaged: %s", path.c_str(), why.c_str())};
    case SQLITE_CONSTRAINT:
      return {ErrorCode::internal, format("the database %s refuses a record: %s", path.c_str(), why.c_str())};
  }
  return {ErrorCode::device_error, format("the database %s: %s", path.c_str(), why.c_str())};
}

Result<sqlite3_stmt*> SqliteConnection::prepare(const std::string& statement) {
  Statement& known = statements_[statement];
  if (known != nullptr) return known.get();
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v3(database_.get(), statement.c_str(), -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr) !=
      SQLITE_OK)
    return failure();
  known.reset(prepared);
  return prepared;
}

Result<SqlResult> SqliteConnection::execute(const std::string& statement, std::span<const SqlValue> parameters) {
  FERRY_ASSIGN(sqlite3_stmt * prepared, prepare(statement));
  SqlResult result;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!bind(prepared, static_cast<int>(i) + 1, parameters[i])) return failure();
  }
  const auto before = sqlite3_total_changes64(database_.get());
  int code = sqlite3_step(prepared);
  for (; code == SQLITE_ROW; code = sqlite3_step(prepared)) {
    SqlRow& row = result.rows.emplace_back();
    for (int i = 0; i < sqlite3_column_count(prepared); ++i) row.push_back(column(prepared, i));
  }
  const Status outcome = code == SQLITE_DONE ? Status() : failure();
  sqlite3_reset(prepared);
  FERRY_TRY(outcome);
  // Rows that cascades delete are not counted.
  if (sqlite3_total_changes64(database_.get()) != before)
    result.changed = static_cast<std::uint64_t>(sqlite3_changes64(database_.get()));
  return result;
}

Status SqliteConnection::begin(Access access) { return run(access == Access::write ? "BEGIN IMMEDIATE" : "BEGIN"); }

Status SqliteConnection::commit() { return run("COMMIT"); }

// SQLite may have rolled back by itself, where the disk is full.
void SqliteConnection::roll_back() {
  if (sqlite3_get_autocommit(database_.get()) == 0) static_cast<void>(run("ROLLBACK"));
}

Result<Time> SqliteConnection::now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return Time(std::chrono::duration_cast<Duration>(since_1970));
}

Result<std::optional<std::uint64_t>> SqliteConnection::room() {
  struct statvfs disk{};
  if (::statvfs(path_.c_str(), &disk) != 0) return std::optional<std::uint64_t>();
  const std::uint64_t block = disk.f_frsize, free = disk.f_bavail * block;
  const std::uint64_t left = std::min(kLeftToOthers, disk.f_blocks * block / 4);
  FERRY_ASSIGN(const SqlResult pages, execute("PRAGMA freelist_count", {}));
  FERRY_ASSIGN(const SqlResult page, execute("PRAGMA page_size", {}));
  FERRY_ASSIGN(const std::uint64_t unused, only_number(pages));
  FERRY_ASSIGN(const std::uint64_t page_bytes, only_number(page));
  return std::optional(unused * page_bytes + (free > left ? free - left : 0));
}

}  // namespace ferry::farm
