// The tables, as a list of steps that each make the schema of the next version. Released steps never change.
#pragma once

#include <span>
#include <string>

#include "base/status.h"
#include "farm/store/sql_connection.h"

namespace ferry::farm {

// Statements that make the schema of version n + 1 from that of version n, for the step at position n.
using Migration = std::span<const char* const>;

std::span<const Migration> migrations();

// Has a row for each step. Other tables of the same database, with steps of their own, have a table of their own.
inline constexpr const char* kVersionTable = "schema_version";

// The number of steps that the database has gone through; 0 if it is empty.
Result<std::size_t> schema_version(SqlConnection& connection, const std::string& version_table = kVersionTable);

// Brings the schema to the version of the last step, in one transaction. Fails with version_mismatch if the database's
// version is a later one.
Status migrate(SqlConnection& connection, std::span<const Migration> steps,
               const std::string& version_table = kVersionTable);

// Fails with version_mismatch unless migrate() would change nothing.
Status expect_version(SqlConnection& connection, std::span<const Migration> steps);

}  // namespace ferry::farm
