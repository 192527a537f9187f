#include "farm/store/open_connection.h"

#include <filesystem>

#include "farm/store/postgres_connection.h"
#include "farm/store/sqlite_connection.h"

namespace ferry::farm {

bool is_postgres(const std::string& database) {
  return database.starts_with("postgresql://") || database.starts_with("postgres://");
}

std::string module_database_of(const std::string& database) {
  if (is_postgres(database)) return database;
  return std::filesystem::path(database).replace_extension("modules.db").string();
}

Result<std::unique_ptr<SqlConnection>> open_module_connection(const std::string& database) {
  if (is_postgres(database)) {
    FERRY_ASSIGN(auto connection, PostgresConnection::open(database, PostgresConnection::Writers::of_modules));
    return std::unique_ptr<SqlConnection>(std::move(connection));
  }
  FERRY_ASSIGN(auto connection, SqliteConnection::open(database, Access::write));
  // Debian's SQLite overwrites what is deleted, for which its log would become as large as that, and stay so.
  FERRY_TRY(connection->execute("PRAGMA secure_delete = FAST", {}).status());
  FERRY_TRY(connection->execute("PRAGMA journal_size_limit = 16777216", {}).status());
  return std::unique_ptr<SqlConnection>(std::move(connection));
}

}  // namespace ferry::farm
