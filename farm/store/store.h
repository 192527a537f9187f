// The store in which a tracker keeps what must survive it: the lease machine's records, the history of leases, sessions
// and health checks, the audit log and credentials. Implementations: SQLite (sqlite_store.h) and PostgreSQL
// (postgres_store.h).
//
// A store belongs to one thread at a time (database_thread.h). Texts are UTF-8 without NUL, at most kMaxTextBytes,
// and names of holders, actors and credentials at most kMaxNameBytes; anything else is refused with invalid_argument.
// Failures that may pass, after which the caller may try the same again: resource_exhausted (the disk is full), busy
// (another process holds the database), unavailable (the database does not answer). A database that is damaged or
// cannot be read or written is a device_error.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/status.h"
#include "farm/core/lease/actions.h"
#include "farm/core/lease/events.h"
#include "farm/store/board_logs.h"
#include "farm/store/credential.h"
#include "farm/store/history.h"

namespace ferry::farm {

inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 10;
// PostgreSQL's indexes take no more than 2704.
inline constexpr std::size_t kMaxNameBytes = 1024;
// A crash report of a session is cut to this size before it is stored.
inline constexpr std::size_t kMaxFailureBytes = 2048;
// History and audit log are kept for this long.
inline constexpr Duration kRetention = std::chrono::hours(24 * 90);

// Persisted names the last commit that is on disk. TermLost: another tracker has taken a later term, and nothing was
// written.
using CommitOutcome = std::variant<Persisted, TermLost>;

class Store {
 public:
  virtual ~Store() = default;

  // Makes the caller the tracker that schedules, in a term greater than all before. From here on the store refuses
  // commits of earlier terms. Fails with busy if the database lets only one tracker schedule and another one does.
  virtual Result<TrackerTerm> take_term() = 0;

  // The current term. The tracker that schedules asks for it every few seconds: a database that knows the right to
  // schedule takes it from one that is silent for kRightLasts.
  static constexpr std::chrono::seconds kRightLasts{8};
  virtual Result<TrackerTerm> current_term() = 0;

  // Everything that is current, as of one moment. Once the caller has taken the term, nobody else changes it.
  virtual Result<Snapshot> load() = 0;

  // Writes commits of one term in one transaction: on disk when this returns, or nothing of them is. Their numbers
  // increase from 1, also from call to call. Commits that are on disk already are skipped, so that a caller who cannot
  // know what became of a transaction repeats it. Requires at least one commit.
  virtual Result<CommitOutcome> apply(std::span<const Persist> commits) = 0;

  // The clock that all trackers of the store share.
  virtual Result<Time> now() = 0;

  // Newest first, at most query.limit of them.
  virtual Result<std::vector<EndedLease>> ended_leases(const HistoryQuery& query) = 0;
  virtual Status add_audit_entry(const AuditEntry& entry) = 0;
  virtual Result<std::vector<NumberedAuditEntry>> audit_log(const AuditQuery& query) = 0;
  virtual Status add_health_entry(const HealthEntry& entry) = 0;
  virtual Result<std::vector<NumberedHealthEntry>> health_entries(const NumberedQuery& query) = 0;
  // All of them or none.
  virtual Status add_sessions(std::span<const SessionEntry> sessions) = 0;
  Status add_session(const SessionEntry& session) { return add_sessions({&session, 1}); }
  virtual Result<std::vector<NumberedSessionEntry>> sessions(const NumberedQuery& query) = 0;
  // Deletes up to `limit` ended leases, and as many entries of the audit log, health checks and sessions, from before
  // the given time. Returns whether there may be more.
  virtual Result<bool> purge(Time before, std::size_t limit) = 0;

  // The knowledge of the judge of a board's health (farm/checkup/judge_state.h). It outlives the checks that it
  // rests on.
  virtual Status set_health_state(BoardId board, const std::string& state) = 0;
  virtual Result<std::vector<HealthState>> health_states() = 0;

  // Fails with invalid_argument if there is one of this kind and id.
  virtual Status add_credential(const Credential& credential) = 0;
  // Adds it in place of the one of this kind and id, if there is one.
  virtual Status replace_credential(const Credential& credential) = 0;
  // Fails with not_found if there is none.
  virtual Status delete_credential(CredentialKind kind, const std::string& id) = 0;
  // Fails with not_found if there is none. One that is revoked keeps the time of its first revocation.
  virtual Status revoke_credential(CredentialKind kind, const std::string& id, Time at) = 0;
  virtual Result<std::vector<Credential>> credentials() = 0;
};

}  // namespace ferry::farm
