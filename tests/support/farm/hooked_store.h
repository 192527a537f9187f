// A store that lets a test delay commits, let them fail, and see how they are grouped.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "farm/store/store.h"

namespace ferry::test {

class HookedStore final : public farm::Store {
 public:
  // Called before the commits of each transaction are written. They are not if it returns a failure.
  using BeforeCommit = std::function<Status(std::span<const farm::Persist> commits)>;

  HookedStore(std::unique_ptr<farm::Store> store, BeforeCommit before_commit)
      : store_(std::move(store)), before_commit_(std::move(before_commit)) {}

  Result<farm::CommitOutcome> apply(std::span<const farm::Persist> commits) override {
    FERRY_TRY(before_commit_(commits));
    return store_->apply(commits);
  }

  Result<farm::TrackerTerm> take_term() override { return store_->take_term(); }
  Result<farm::TrackerTerm> current_term() override { return store_->current_term(); }
  Result<farm::Snapshot> load() override { return store_->load(); }
  Result<farm::Time> now() override { return store_->now(); }
  Result<std::vector<farm::EndedLease>> ended_leases(const farm::HistoryQuery& query) override {
    return store_->ended_leases(query);
  }
  Status add_audit_entry(const farm::AuditEntry& entry) override { return store_->add_audit_entry(entry); }
  Result<std::vector<farm::NumberedAuditEntry>> audit_log(const farm::AuditQuery& query) override {
    return store_->audit_log(query);
  }
  Status add_health_entry(const farm::HealthEntry& entry) override { return store_->add_health_entry(entry); }
  Result<std::vector<farm::NumberedHealthEntry>> health_entries(const farm::NumberedQuery& query) override {
    return store_->health_entries(query);
  }
  Status add_sessions(std::span<const farm::SessionEntry> sessions) override { return store_->add_sessions(sessions); }
  Result<std::vector<farm::NumberedSessionEntry>> sessions(const farm::NumberedQuery& query) override {
    return store_->sessions(query);
  }
  Status set_health_state(farm::BoardId board, const std::string& state) override {
    return store_->set_health_state(board, state);
  }
  Result<std::vector<farm::HealthState>> health_states() override { return store_->health_states(); }
  Result<bool> purge(farm::Time before, std::size_t limit) override { return store_->purge(before, limit); }
  Status add_credential(const farm::Credential& credential) override { return store_->add_credential(credential); }
  Status replace_credential(const farm::Credential& credential) override {
    return store_->replace_credential(credential);
  }
  Status delete_credential(farm::CredentialKind kind, const std::string& id) override {
    return store_->delete_credential(kind, id);
  }
  Status revoke_credential(farm::CredentialKind kind, const std::string& id, farm::Time at) override {
    return store_->revoke_credential(kind, id, at);
  }
  Result<std::vector<farm::Credential>> credentials() override { return store_->credentials(); }

 private:
  std::unique_ptr<farm::Store> store_;
  BeforeCommit before_commit_;
};

}  // namespace ferry::test
