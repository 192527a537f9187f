// Answers requests about the modules that the farm keeps (farm/protocol/modules.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "farm/store/modules/module_thread.h"
#include "farm/tracker/audit_log.h"
#include "farm/tracker/client_connections.h"
#include "farm/tracker/module_shares.h"
#include "farm/tracker/peers.h"

namespace ferry::farm {

class ModuleService {
 public:
  // All must outlive this object.
  ModuleService(ClientConnections& clients, Peers& peers, AuditLog& audit)
      : clients_(clients), peers_(peers), audit_(audit) {}
  ModuleService(const ModuleService&) = delete;
  ModuleService& operator=(const ModuleService&) = delete;

  // Until then the farm keeps no modules. `database` is a path or a URI of PostgreSQL, and at most `quota` bytes are
  // kept. The loop must outlive this object.
  void open(server::EventLoop& loop, const std::string& database, std::uint64_t quota);
  // This tracker schedules now: drops what the one before has not finished.
  void begin();
  // Drops what the client has not finished.
  void forget(ConnectionNumber client);
  // No request is answered after that.
  void close() { modules_.reset(); }

  // Sends the answer to the client's connection, once the database has given it. Fails if the frame is none of the
  // protocol. Requires that the connection is a client's.
  Status answer_frame(ConnectionNumber from, const rpc::FrameHeader& header, std::span<const std::uint8_t> body);

 private:
  template <class Request>
  Status ask(ConnectionNumber from, const rpc::FrameHeader& header, std::span<const std::uint8_t> body);
  template <class Request>
  Status take_share(ConnectionNumber from, const secure::KeyId& key, const Request& request);
  bool transfers_nothing(ConnectionNumber connection);
  void audit_baseline(ConnectionNumber from, const secure::KeyId& key, const Caller& caller,
                      const std::string& baseline, bool is_deleted);

  ClientConnections& clients_;
  Peers& peers_;
  AuditLog& audit_;
  ModuleShares shares_;
  std::unique_ptr<ModuleThread> modules_;  // null: the farm keeps none
};

}  // namespace ferry::farm
