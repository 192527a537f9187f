#include "farm/store/sqlite_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/descriptor.h"
#include "base/format.h"
#include "base/printable.h"
#include "farm/store/schema.h"
#include "farm/store/sql_store.h"
#include "farm/store/sqlite_connection.h"

namespace ferry::farm {
namespace {

// The first thing that is wrong with the database; nothing if all is well.
Result<std::string> find_damage(SqlConnection& connection) {
  const auto checked = execute(connection, "PRAGMA integrity_check(1)");
  if (!checked.is_ok() && checked.status().code() == ErrorCode::device_error) return checked.status().message();
  FERRY_TRY(checked.status());
  if (checked.value().rows.empty()) return std::string("it cannot be checked");
  RowReader row(checked.value().rows.front());
  const std::string text = row.text();
  return text == "ok" ? std::string() : printable(text);
}

Result<OpenedStore> open_damaged(const std::string& path, const std::string& damage) {
  FERRY_ASSIGN(auto connection, SqliteConnection::open(path, Access::read));
  FERRY_TRY(expect_version(*connection, migrations()));
  const std::string reason =
      format("the database %s is damaged and therefore read-only: %s", printable(path).c_str(), damage.c_str());
  return OpenedStore{std::make_unique<SqlStore>(std::move(connection), reason), reason};
}

Status sync_and_rename(const std::string& from, const std::string& to) {
  const std::string folder = to.find('/') == std::string::npos ? "." : to.substr(0, to.rfind('/') + 1);
  const Descriptor file(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  const Descriptor parent(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.number() >= 0 && parent.number() >= 0 && fsync(file.number()) == 0 &&
      std::rename(from.c_str(), to.c_str()) == 0 && fsync(parent.number()) == 0)
    return {};
  return {errno == ENOSPC ? ErrorCode::resource_exhausted : ErrorCode::device_error,
          format("cannot write the backup %s: %s", printable(to).c_str(), std::strerror(errno))};
}

Status copy_database(const SqliteConnection& source, const std::string& path) {
  // A journal in memory leaves no other files beside the copy. If it is interrupted, it is never renamed.
  FERRY_ASSIGN(const auto copy, SqliteConnection::open(path, Access::write, "MEMORY"));
  sqlite3_backup* backup = sqlite3_backup_init(copy->handle(), "main", source.handle(), "main");
  if (backup == nullptr) return copy->failure();
  // All pages in one step: a reader's view, which does not keep others from writing.
  const int code = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (code == SQLITE_DONE && finished == SQLITE_OK) return {};
  return copy->failure();
}

}  // namespace

Result<OpenedStore> open_sqlite_store(const std::string& path) {
  FERRY_ASSIGN(auto connection, SqliteConnection::open(path, Access::write));
  FERRY_ASSIGN(const std::string damage, find_damage(*connection));
  if (!damage.empty()) {
    // Closing would move pages from the log into a database that is to stay as it was found.
    sqlite3_db_config(connection->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    connection.reset();
    return open_damaged(path, damage);
  }
  FERRY_TRY(migrate(*connection, migrations()));
  return OpenedStore{std::make_unique<SqlStore>(std::move(connection)), {}};
}

Status back_up_sqlite(const std::string& path, const std::string& destination) {
  FERRY_ASSIGN(const auto source, SqliteConnection::open(path, Access::read));
  const std::string unfinished = destination + ".unfinished";
  std::remove(unfinished.c_str());
  Status copied = copy_database(*source, unfinished);
  if (copied.is_ok()) {
    // The log of a database that was there before must not be taken for the copy's.
    for (const char* log : {"-wal", "-shm"}) std::remove((destination + log).c_str());
    copied = sync_and_rename(unfinished, destination);
  }
  if (!copied.is_ok()) std::remove(unfinished.c_str());
  return copied;
}

}  // namespace ferry::farm
