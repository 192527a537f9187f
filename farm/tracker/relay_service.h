// Opens relays between clients and the boards of their leases, and ends them with the leases.
#pragma once

#include <cstdint>
#include <memory>
#include <set>

#include "base/descriptor.h"
#include "farm/api/farm.h"
#include "farm/relay/relay.h"
#include "farm/relay/relay_tokens.h"
#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/audit_log.h"
#include "farm/tracker/log.h"
#include "farm/tracker/peers.h"

namespace ferry::farm {

class RelayService {
 public:
  // All must outlive this object.
  RelayService(const ActiveScheduler& scheduler, Peers& peers, AuditLog& audit, Log log)
      : scheduler_(scheduler), peers_(peers), audit_(audit), log_(std::move(log)) {}
  RelayService(const RelayService&) = delete;
  RelayService& operator=(const RelayService&) = delete;

  // Until then there are no relays. Fails with resource_exhausted.
  Status start(const RelayLimits& limits);
  // Ends all relays.
  void stop();

  // The token of a relay to a board of one of the caller's leases, which the board has been told. Requires that the
  // tracker schedules.
  Result<std::uint64_t> offer(const Caller& caller, const wire::UseRelay& message);
  // Accepts one end of a relay.
  void accept_end(Descriptor socket, const rpc::RelayTicket& ticket);
  // Must be called each second while the tracker schedules. Forgets tokens that are too old, and closes relays whose
  // leases have been over for a second, in which the end of a session was told.
  void expire();

  std::uint64_t relayed_bytes() const { return relay_ ? relay_->relayed_bytes() : 0; }  // in total

 private:
  bool has_boards(std::uint64_t lease) const;

  const ActiveScheduler& scheduler_;
  Peers& peers_;
  AuditLog& audit_;
  Log log_;
  RelayTokens tokens_;
  std::unique_ptr<Relay> relay_;         // null: there are no relays
  std::set<std::uint64_t> leases_over_;  // those that still had relays at the last look
};

}  // namespace ferry::farm
