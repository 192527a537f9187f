#include "farm/store/sql_store.h"

#include "farm/store/board_log_tables.h"
#include "farm/store/credential_table.h"
#include "farm/store/history_tables.h"
#include "farm/store/record_tables.h"

namespace ferry::farm {

template <class Change>
auto SqlStore::write(const Change& change) -> decltype(change()) {
  if (!read_only_reason_.empty()) return Status(ErrorCode::device_error, read_only_reason_);
  return in_transaction(*connection_, Access::write, change);
}

template <class Read>
auto SqlStore::read(const Read& read) -> decltype(read()) {
  return in_transaction(*connection_, Access::read, read);
}

Result<TrackerTerm> SqlStore::take_term() {
  if (read_only_reason_.empty()) FERRY_TRY(connection_->lock_scheduling());
  return write([&]() -> Result<TrackerTerm> {
    FERRY_ASSIGN(const SqlResult taken,
                 execute(*connection_, "UPDATE tracker SET term = term + 1, last_commit = 0 RETURNING term"));
    FERRY_ASSIGN(const std::uint64_t term, only_number(taken));
    FERRY_TRY(connection_->announce_change());
    return static_cast<TrackerTerm>(term);
  });
}

Result<TrackerTerm> SqlStore::current_term() {
  return read([&]() -> Result<TrackerTerm> {
    FERRY_ASSIGN(const SqlResult current, execute(*connection_, "SELECT term FROM tracker"));
    FERRY_ASSIGN(const std::uint64_t term, only_number(current));
    return static_cast<TrackerTerm>(term);
  });
}

Result<Snapshot> SqlStore::load() {
  return read([&] { return read_snapshot(*connection_); });
}

Result<CommitOutcome> SqlStore::apply(std::span<const Persist> commits) {
  const TrackerTerm term = commits.front().term;
  const std::uint64_t first = commits.front().commit, last = commits.back().commit;
  return write([&]() -> Result<CommitOutcome> {
    FERRY_ASSIGN(const SqlResult advanced,
                 execute(*connection_, "UPDATE tracker SET last_commit = $1 WHERE term = $2 AND last_commit < $3", last,
                         term, first));
    std::uint64_t written = 0;
    if (advanced.changed == 0) {
      // The term is over, or this is a repetition.
      FERRY_ASSIGN(const SqlResult current,
                   execute(*connection_, "SELECT last_commit FROM tracker WHERE term = $1", term));
      if (current.rows.empty()) return CommitOutcome(TermLost{});
      FERRY_ASSIGN(written, only_number(current));
      if (written < last) FERRY_TRY(execute(*connection_, "UPDATE tracker SET last_commit = $1", last).status());
    }
    for (const Persist& commit : commits) {
      if (commit.commit <= written) continue;
      for (const Record& record : commit.records) FERRY_TRY(write_record(*connection_, record));
    }
    return CommitOutcome(Persisted{last});
  });
}

Result<std::vector<EndedLease>> SqlStore::ended_leases(const HistoryQuery& query) {
  return read([&] { return read_ended_leases(*connection_, query); });
}

Status SqlStore::add_audit_entry(const AuditEntry& entry) {
  return write([&] { return write_audit_entry(*connection_, entry); });
}

Result<std::vector<NumberedAuditEntry>> SqlStore::audit_log(const AuditQuery& query) {
  return read([&] { return read_audit_log(*connection_, query); });
}

Status SqlStore::add_health_entry(const HealthEntry& entry) {
  return write([&] { return write_health_entry(*connection_, entry); });
}

Result<std::vector<NumberedHealthEntry>> SqlStore::health_entries(const NumberedQuery& query) {
  return read([&] { return read_health_entries(*connection_, query); });
}

Status SqlStore::add_sessions(std::span<const SessionEntry> sessions) {
  return write([&]() -> Status {
    for (const SessionEntry& session : sessions) FERRY_TRY(write_session(*connection_, session));
    return {};
  });
}

Result<std::vector<NumberedSessionEntry>> SqlStore::sessions(const NumberedQuery& query) {
  return read([&] { return read_sessions(*connection_, query); });
}

Result<bool> SqlStore::purge(Time before, std::size_t limit) {
  return write([&] { return purge_history(*connection_, before, limit); });
}

Status SqlStore::set_health_state(BoardId board, const std::string& state) {
  return write([&] { return write_health_state(*connection_, board, state); });
}

Result<std::vector<HealthState>> SqlStore::health_states() {
  return read([&] { return read_health_states(*connection_); });
}

Status SqlStore::add_credential(const Credential& credential) {
  return write([&] { return write_credential(*connection_, credential); });
}

Status SqlStore::replace_credential(const Credential& credential) {
  return write([&] { return farm::replace_credential(*connection_, credential); });
}

Status SqlStore::delete_credential(CredentialKind kind, const std::string& id) {
  return write([&] { return farm::delete_credential(*connection_, kind, id); });
}

Status SqlStore::revoke_credential(CredentialKind kind, const std::string& id, Time at) {
  return write([&] { return write_revocation(*connection_, kind, id, at); });
}

Result<std::vector<Credential>> SqlStore::credentials() {
  return read([&] { return read_credentials(*connection_); });
}

}  // namespace ferry::farm
