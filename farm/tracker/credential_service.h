// Changes which keys and tokens count: in the store, in the directory of keys, and for the connections that are open.
#pragma once

#include <functional>
#include <vector>

#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/board_registry.h"
#include "farm/tracker/database.h"
#include "farm/tracker/key_directory.h"
#include "farm/tracker/log.h"
#include "farm/tracker/peers.h"

namespace ferry::farm {

class CredentialService {
 public:
  // Remembers a revocation outside of the database, which may be restored from a backup.
  using NoteRevocation = std::function<Status(const Credential&)>;

  // All must outlive this object.
  CredentialService(const ActiveScheduler& scheduler, const BoardRegistry& boards, KeyDirectory& keys, Peers& peers,
                    Database& database, NoteRevocation note_revocation, Log log)
      : scheduler_(scheduler),
        boards_(boards),
        keys_(keys),
        peers_(peers),
        database_(database),
        note_revocation_(std::move(note_revocation)),
        log_(std::move(log)) {}
  CredentialService(const CredentialService&) = delete;
  CredentialService& operator=(const CredentialService&) = delete;

  const KeyDirectory& keys() const { return keys_; }

  // Writes credentials, then calls then() with whether that succeeded. The keys count from then on.
  void write(std::vector<Credential> credentials, std::function<void(const Status&)> then);
  Status note_revocation(const Credential& credential) { return note_revocation_(credential); }

  // Shuts the holders out at once, without the store: their keys count no more, their connections are closed, and the
  // leases of a holder who has no other key end. Requires that the tracker schedules.
  void shut_out(const std::vector<Credential>& revoked);

  // Must be called when a board has joined under its own key. Deletes the key of its enrolment.
  void confirm_enrolment(BoardId board);

 private:
  void revoke_access(const Credential& credential);

  const ActiveScheduler& scheduler_;
  const BoardRegistry& boards_;
  KeyDirectory& keys_;
  Peers& peers_;
  Database& database_;
  NoteRevocation note_revocation_;
  Log log_;
};

}  // namespace ferry::farm
