// A connection to a database of SQLite.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <unordered_map>

#include "base/status.h"
#include "farm/store/sql_connection.h"

namespace ferry::farm {

class SqliteConnection final : public SqlConnection {
 public:
  // Creates the file if it is absent and may be written. Statements wait a few seconds at most for transactions of
  // other processes.
  static Result<std::unique_ptr<SqliteConnection>> open(const std::string& path, Access access,
                                                        const char* journal_mode = "WAL");

  Result<SqlResult> execute(const std::string& statement, std::span<const SqlValue> parameters) override;
  Status begin(Access access) override;
  Status commit() override;
  void roll_back() override;
  // One process uses the file, so there is no such right: whoever takes a term excludes the one before.
  Status lock_scheduling() override { return {}; }
  // Nobody shares the file.
  Status announce_change() override { return {}; }
  Result<Time> now() override;
  Result<std::optional<std::uint64_t>> room() override;

  sqlite3* handle() const { return database_.get(); }
  // Describes the last failure.
  Status failure() const;

 private:
  struct CloseDatabase {
    void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
  };
  struct FinalizeStatement {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  using Database = std::unique_ptr<sqlite3, CloseDatabase>;
  using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

  SqliteConnection(std::string path, Database database) : path_(std::move(path)), database_(std::move(database)) {}

  Result<sqlite3_stmt*> prepare(const std::string& statement);
  Status run(const char* statement) { return execute(statement, {}).status(); }

  std::string path_;
  Database database_;
  std::unordered_map<std::string, Statement> statements_;
};

}  // namespace ferry::farm
