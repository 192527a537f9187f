// Opens the database of modules by what a tracker's options name: a path, or a URI of PostgreSQL.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "farm/store/sql_connection.h"

namespace ferry::farm {

bool is_postgres(const std::string& database);

// Returns the database of modules that belongs to a farm's database: the same one of PostgreSQL, or another file beside
// that of SQLite, so that a farm's leases never wait for modules.
std::string module_database_of(const std::string& database);

// Creates the file of SQLite if there is none. Fails with what SqliteConnection::open() and PostgresConnection::open()
// say.
Result<std::unique_ptr<SqlConnection>> open_module_connection(const std::string& database);

}  // namespace ferry::farm
