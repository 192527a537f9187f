#include "tests/support/farm/memory_store.h"

#include <algorithm>

namespace ferry::test {

Result<farm::TrackerTerm> MemoryStore::take_term() {
  last_commit_ = 0;
  return term_ = static_cast<farm::TrackerTerm>(static_cast<std::uint64_t>(term_) + 1);
}

Result<farm::CommitOutcome> MemoryStore::apply(std::span<const farm::Persist> commits) {
  for (const farm::Persist& commit : commits) {
    if (commit.term != term_) return farm::CommitOutcome(farm::TermLost{});
    if (commit.commit <= last_commit_) continue;
    for (const farm::Record& record : commit.records) {
      if (const auto* end = std::get_if<farm::EndRecord>(&record)) remember(*end);
      tables_.apply(record);
    }
    last_commit_ = commit.commit;
  }
  return farm::CommitOutcome(farm::Persisted{last_commit_});
}

void MemoryStore::remember(const farm::EndRecord& record) {
  std::erase_if(history_, [&](const auto& entry) { return entry.second.request.id == record.id; });
  const farm::RequestRecord& request = tables_.requests().at(record.id);
  farm::EndedLease lease{request.request, request.submitted, {}, {}, record.at, record.reason, record.text};
  if (const auto found = tables_.leases().find(record.id); found != tables_.leases().end()) {
    lease.start = found->second.start;
    lease.parts = found->second.parts;
  }
  history_[{record.at, record.id}] = std::move(lease);
}

Result<std::vector<farm::EndedLease>> MemoryStore::ended_leases(const farm::HistoryQuery& query) {
  std::vector<farm::EndedLease> found;
  for (auto entry = history_.rbegin(); entry != history_.rend(); ++entry) {
    const farm::EndedLease& lease = entry->second;
    const auto is_on_board = [&](const farm::LeasePart& part) { return part.board == query.board; };
    if (found.size() == query.limit) break;
    if (query.board && std::none_of(lease.parts.begin(), lease.parts.end(), is_on_board)) continue;
    if (query.holder && lease.request.holder != *query.holder) continue;
    if ((query.from && lease.ended < *query.from) || (query.until && lease.ended >= *query.until)) continue;
    if (query.before && entry->first >= std::pair(query.before->ended, query.before->id)) continue;
    found.push_back(lease);
  }
  return found;
}

Status MemoryStore::add_audit_entry(const farm::AuditEntry& entry) {
  audit_log_.push_back({audit_log_.empty() ? 1 : audit_log_.back().number + 1, entry});
  return {};
}

Result<std::vector<farm::NumberedAuditEntry>> MemoryStore::audit_log(const farm::AuditQuery& query) {
  std::vector<farm::NumberedAuditEntry> found;
  for (auto numbered = audit_log_.rbegin(); numbered != audit_log_.rend(); ++numbered) {
    const farm::AuditEntry& entry = numbered->entry;
    if (found.size() == query.limit) break;
    if ((query.board && entry.board != query.board) || (query.actor && entry.actor != *query.actor)) continue;
    if ((query.from && entry.at < *query.from) || (query.until && entry.at >= *query.until)) continue;
    if (query.before && numbered->number >= *query.before) continue;
    found.push_back(*numbered);
  }
  return found;
}

Result<bool> MemoryStore::purge(farm::Time before, std::size_t limit) {
  std::size_t leases = 0, entries = 0;
  while (leases < limit && !history_.empty() && history_.begin()->first.first < before) {
    history_.erase(history_.begin());
    ++leases;
  }
  const std::uint64_t newest = audit_log_.empty() ? 0 : audit_log_.back().number;
  std::erase_if(audit_log_, [&](const farm::NumberedAuditEntry& numbered) {
    return numbered.entry.at < before && numbered.number != newest && entries++ < limit;
  });
  return leases == limit || entries >= limit;
}

Status MemoryStore::add_credential(const farm::Credential& credential) {
  if (credentials_.emplace(std::pair(credential.kind, credential.id), credential).second) return {};
  return {ErrorCode::invalid_argument, "there is a credential " + credential.id + " already"};
}

Status MemoryStore::revoke_credential(farm::CredentialKind kind, const std::string& id, farm::Time at) {
  const auto found = credentials_.find({kind, id});
  if (found == credentials_.end()) return {ErrorCode::not_found, "there is no credential " + id};
  if (!found->second.revoked) found->second.revoked = at;
  return {};
}

Result<std::vector<farm::Credential>> MemoryStore::credentials() {
  std::vector<farm::Credential> all;
  for (const auto& [key, credential] : credentials_) all.push_back(credential);
  return all;
}

}  // namespace ferry::test
