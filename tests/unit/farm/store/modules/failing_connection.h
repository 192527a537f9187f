// A connection to a database that fails when a test says so.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "farm/store/sql_connection.h"

namespace ferry::test {

struct DatabaseFaults {
  std::optional<std::uint64_t> room;  // free bytes of its disk; none: as many as it has
  std::string failing_statement;      // those that begin with this fail; empty: none
  int lost_commit = 0;  // the answer to this commit from now on is lost, though it is carried out; 0: none
};

class FailingConnection final : public farm::SqlConnection {
 public:
  FailingConnection(std::unique_ptr<SqlConnection> real, DatabaseFaults& faults)
      : real_(std::move(real)), faults_(faults) {}

  Result<farm::SqlResult> execute(const std::string& statement, std::span<const farm::SqlValue> parameters) override {
    if (!faults_.failing_statement.empty() && statement.starts_with(faults_.failing_statement)) return failure();
    return real_->execute(statement, parameters);
  }
  Status begin(farm::Access access) override { return real_->begin(access); }
  Status commit() override {
    const Status committed = real_->commit();
    return faults_.lost_commit > 0 && --faults_.lost_commit == 0 ? failure() : committed;
  }
  void roll_back() override { real_->roll_back(); }
  Status lock_scheduling() override { return real_->lock_scheduling(); }
  Status announce_change() override { return real_->announce_change(); }
  Result<farm::Time> now() override { return real_->now(); }
  Result<std::optional<std::uint64_t>> room() override { return faults_.room ? faults_.room : real_->room(); }

 private:
  static Status failure() { return {ErrorCode::unavailable, "the database does not answer"}; }

  std::unique_ptr<SqlConnection> real_;
  DatabaseFaults& faults_;
};

}  // namespace ferry::test
