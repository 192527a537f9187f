#include "tests/support/farm/memory_store.h"

#include <algorithm>

namespace ferry::test {
namespace {

template <class Numbered, class Entry>
void add_numbered(std::vector<Numbered>& log, const Entry& entry) {
  log.push_back({log.empty() ? 1 : log.back().number + 1, entry});
}

farm::Time time_of(const farm::AuditEntry& entry) { return entry.at; }
farm::Time time_of(const farm::HealthEntry& entry) { return entry.at; }
farm::Time time_of(const farm::SessionEntry& session) { return session.ended; }

// Deletes up to `limit` of the oldest entries, except for the newest number. Returns whether there may be more.
template <class Numbered>
bool purge_numbered(std::vector<Numbered>& log, farm::Time before, std::size_t limit) {
  std::vector<std::pair<farm::Time, std::uint64_t>> old;
  for (const Numbered& one : log)
    if (time_of(one.entry) < before && one.number != log.back().number) old.push_back({time_of(one.entry), one.number});
  std::sort(old.begin(), old.end());
  if (old.size() > limit) old.resize(limit);
  std::erase_if(log, [&](const Numbered& one) {
    return std::binary_search(old.begin(), old.end(), std::pair(time_of(one.entry), one.number));
  });
  return old.size() == limit;
}

template <class Numbered>
std::vector<Numbered> page(const std::vector<Numbered>& log, const farm::NumberedQuery& query) {
  std::vector<Numbered> found;
  for (auto one = log.rbegin(); one != log.rend() && found.size() < query.limit; ++one)
    if ((!query.board || one->entry.board == *query.board) && (!query.before || one->number < *query.before))
      found.push_back(*one);
  return found;
}

}  // namespace

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
  const farm::RequestRecord& request = tables_.requests().at(record.id);
  farm::EndedLease lease{request.request, request.submitted, {}, {}, record.at, record.reason, record.text};
  if (const auto found = tables_.leases().find(record.id); found != tables_.leases().end()) {
    lease.start = found->second.start;
    lease.parts = found->second.parts;
  }
  history_.emplace(std::pair(record.at, record.id), std::move(lease));
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
  add_numbered(audit_log_, entry);
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
  std::size_t leases = 0;
  while (leases < limit && !history_.empty() && history_.begin()->first.first < before) {
    history_.erase(history_.begin());
    ++leases;
  }
  bool has_more = leases == limit;
  has_more |= purge_numbered(audit_log_, before, limit);
  has_more |= purge_numbered(health_entries_, before, limit);
  has_more |= purge_numbered(sessions_, before, limit);
  return has_more;
}

Status MemoryStore::add_health_entry(const farm::HealthEntry& entry) {
  add_numbered(health_entries_, entry);
  return {};
}

Result<std::vector<farm::NumberedHealthEntry>> MemoryStore::health_entries(const farm::NumberedQuery& query) {
  return page(health_entries_, query);
}

Status MemoryStore::add_sessions(std::span<const farm::SessionEntry> sessions) {
  for (farm::SessionEntry session : sessions) {
    const farm::LeasePart part{session.board, session.epoch};
    const auto has_had_it = [&](const auto& ended) {
      return ended.second.request.id == session.lease && std::ranges::any_of(ended.second.parts, [&](const auto& one) {
               return one.board == part.board && one.epoch == part.epoch;
             });
    };
    if (session.holder.empty())
      if (const auto ended = std::ranges::find_if(history_, has_had_it); ended != history_.end())
        session.holder = ended->second.request.holder;
    add_numbered(sessions_, session);
  }
  return {};
}

Result<std::vector<farm::NumberedSessionEntry>> MemoryStore::sessions(const farm::NumberedQuery& query) {
  return page(sessions_, query);
}

Status MemoryStore::set_health_state(farm::BoardId board, const std::string& state) {
  health_states_[board] = state;
  return {};
}

Result<std::vector<farm::HealthState>> MemoryStore::health_states() {
  std::vector<farm::HealthState> states;
  for (const auto& [board, state] : health_states_) states.push_back({board, state});
  return states;
}

Status MemoryStore::add_credential(const farm::Credential& credential) {
  if (credentials_.emplace(std::pair(credential.kind, credential.id), credential).second) return {};
  return {ErrorCode::invalid_argument, "there is a credential " + credential.id + " already"};
}

Status MemoryStore::replace_credential(const farm::Credential& credential) {
  credentials_[{credential.kind, credential.id}] = credential;
  return {};
}

Status MemoryStore::delete_credential(farm::CredentialKind kind, const std::string& id) {
  if (credentials_.erase({kind, id}) == 1) return {};
  return {ErrorCode::not_found, "there is no credential " + id};
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
