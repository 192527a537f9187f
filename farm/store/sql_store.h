// The store over a database that understands SQL. All that differs between databases is behind SqlConnection.
#pragma once

#include <memory>
#include <string>

#include "farm/store/sql_connection.h"
#include "farm/store/store.h"

namespace ferry::farm {

class SqlStore final : public Store {
 public:
  // Requires that the schema is up to date. With a reason, everything that writes is refused with it as a device_error.
  explicit SqlStore(std::unique_ptr<SqlConnection> connection, std::string read_only_reason = {})
      : connection_(std::move(connection)), read_only_reason_(std::move(read_only_reason)) {}

  Result<TrackerTerm> take_term() override;
  Result<Snapshot> load() override;
  Result<CommitOutcome> apply(std::span<const Persist> commits) override;
  Result<TrackerTerm> current_term() override;
  Result<Time> now() override { return connection_->now(); }
  Result<std::vector<EndedLease>> ended_leases(const HistoryQuery& query) override;
  Status add_audit_entry(const AuditEntry& entry) override;
  Result<std::vector<NumberedAuditEntry>> audit_log(const AuditQuery& query) override;
  Status add_health_entry(const HealthEntry& entry) override;
  Result<std::vector<NumberedHealthEntry>> health_entries(const NumberedQuery& query) override;
  Status add_sessions(std::span<const SessionEntry> sessions) override;
  Result<std::vector<NumberedSessionEntry>> sessions(const NumberedQuery& query) override;
  Result<bool> purge(Time before, std::size_t limit) override;
  Status set_health_state(BoardId board, const std::string& state) override;
  Result<std::vector<HealthState>> health_states() override;
  Status add_credential(const Credential& credential) override;
  Status replace_credential(const Credential& credential) override;
  Status delete_credential(CredentialKind kind, const std::string& id) override;
  Status revoke_credential(CredentialKind kind, const std::string& id, Time at) override;
  Result<std::vector<Credential>> credentials() override;

 private:
  // Runs `change`, which returns a Status or a Result, in a writing transaction, and commits it if it succeeds.
  template <class Change>
  auto write(const Change& change) -> decltype(change());
  // Runs `read`, which returns a Result, in a reading transaction.
  template <class Read>
  auto read(const Read& read) -> decltype(read());

  std::unique_ptr<SqlConnection> connection_;
  std::string read_only_reason_;
};

}  // namespace ferry::farm
