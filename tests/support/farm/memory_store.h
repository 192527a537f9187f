// The store in memory: what the others are compared with, and a store for tests that need no disk. It refuses no
// texts.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "farm/store/store.h"
#include "tests/support/farm/record_tables.h"

namespace ferry::test {

class MemoryStore final : public farm::Store {
 public:
  Result<farm::TrackerTerm> take_term() override;
  Result<farm::Snapshot> load() override { return tables_.snapshot(); }
  Result<farm::CommitOutcome> apply(std::span<const farm::Persist> commits) override;
  Result<farm::TrackerTerm> current_term() override { return term_; }
  Result<farm::Time> now() override { return clock_; }
  Result<std::vector<farm::EndedLease>> ended_leases(const farm::HistoryQuery& query) override;
  Status add_audit_entry(const farm::AuditEntry& entry) override;
  Result<std::vector<farm::NumberedAuditEntry>> audit_log(const farm::AuditQuery& query) override;
  Status add_health_entry(const farm::HealthEntry& entry) override;
  Result<std::vector<farm::NumberedHealthEntry>> health_entries(const farm::NumberedQuery& query) override;
  Status add_sessions(std::span<const farm::SessionEntry> sessions) override;
  Result<std::vector<farm::NumberedSessionEntry>> sessions(const farm::NumberedQuery& query) override;
  Status set_health_state(farm::BoardId board, const std::string& state) override;
  Result<std::vector<farm::HealthState>> health_states() override;
  Result<bool> purge(farm::Time before, std::size_t limit) override;
  Status add_credential(const farm::Credential& credential) override;
  Status replace_credential(const farm::Credential& credential) override;
  Status delete_credential(farm::CredentialKind kind, const std::string& id) override;
  Status revoke_credential(farm::CredentialKind kind, const std::string& id, farm::Time at) override;
  Result<std::vector<farm::Credential>> credentials() override;

  void set_clock(farm::Time time) { clock_ = time; }

 private:
  void remember(const farm::EndRecord& record);

  RecordTables tables_;
  farm::TrackerTerm term_{};
  std::uint64_t last_commit_ = 0;
  farm::Time clock_{};
  std::multimap<std::pair<farm::Time, farm::LeaseId>, farm::EndedLease> history_;
  std::vector<farm::NumberedAuditEntry> audit_log_;
  std::vector<farm::NumberedHealthEntry> health_entries_;
  std::vector<farm::NumberedSessionEntry> sessions_;
  std::map<farm::BoardId, std::string> health_states_;
  std::map<std::pair<farm::CredentialKind, std::string>, farm::Credential> credentials_;
};

}  // namespace ferry::test
