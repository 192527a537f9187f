// The connections of clients: their requests for leases become events of the scheduler, and its actions about leases
// become messages to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "farm/api/farm.h"
#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/audit_log.h"
#include "farm/tracker/board_registry.h"
#include "farm/tracker/key_directory.h"
#include "farm/tracker/peers.h"

namespace ferry::farm {

struct ConnectedClient {
  Caller caller;
  std::string name;              // what it says of itself
  std::size_t queries = 0;       // those that are not answered yet
  std::string audited_baseline;  // the last one that it has set
  bool sends_object = false;     // whether more pieces of one are to come
};

class ClientConnections {
 public:
  // All must outlive this object.
  ClientConnections(const ActiveScheduler& scheduler, const BoardRegistry& boards, const KeyDirectory& keys,
                    Peers& peers, AuditLog& audit)
      : scheduler_(scheduler), boards_(boards), keys_(keys), peers_(peers), audit_(audit) {}
  ClientConnections(const ClientConnections&) = delete;
  ClientConnections& operator=(const ClientConnections&) = delete;

  // The first request must be a valid hello under the key of a client. Returns why the client is refused.
  Status admit(server::HandshakenClient& client, const Credential& credential);
  Status handle_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body);
  // Does nothing if this was no connection of a client.
  void left(ConnectionNumber number);
  // Forgets all connections, which have been closed.
  void forget_all() { clients_.clear(); }

  // Null if this is no connection of a client; valid until it has left.
  ConnectedClient* find(ConnectionNumber number);
  std::size_t connected() const { return clients_.size(); }
  std::uint64_t leases_granted() const { return leases_granted_; }  // in total

  void carry_out(const TellWaiting& action);
  void carry_out(const TellGranted& action);
  void carry_out(const TellExtension& action);
  void carry_out(const TellWarning& action);
  void carry_out(const TellEnded& action);
  void carry_out(const ForeignIdRefused& action);

 private:
  void refuse(ConnectionNumber to, std::uint64_t lease, const Status& why);
  // Returns whether the client may do this to the lease. A viewer may share the name of its holder.
  bool is_own(const Caller& caller, const char* action, std::uint64_t lease);
  // Nothing if it was refused.
  std::optional<Request> read_request(ConnectionNumber from, const Caller& caller, const wire::LeaseRequest& asked);

  void handle(ConnectionNumber from, const Caller& caller, const wire::Keepalive& message);
  void handle(ConnectionNumber from, const Caller& caller, const wire::Submit& message);
  void handle(ConnectionNumber from, const Caller& caller, const wire::Attach& message);
  void handle(ConnectionNumber from, const Caller& caller, const wire::Release& message);
  void handle(ConnectionNumber from, const Caller& caller, const wire::Extend& message);
  template <class Message>
  Status decode_and_handle(ConnectionNumber from, const Caller& caller, std::span<const std::uint8_t> body);

  const ActiveScheduler& scheduler_;
  const BoardRegistry& boards_;
  const KeyDirectory& keys_;
  Peers& peers_;
  AuditLog& audit_;
  std::unordered_map<ConnectionNumber, ConnectedClient> clients_;
  std::uint64_t leases_granted_ = 0;
};

}  // namespace ferry::farm
