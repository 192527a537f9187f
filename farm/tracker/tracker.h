// A farm's tracker: decides who gets which board, and tells boards and clients.
//
// It schedules while it holds the current term of its database. Until then, or while another tracker of the same
// database does, it stands by: it does not listen for boards and clients, so that they go to the other one at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "farm/api/farm.h"
#include "farm/core/lease/records.h"
#include "farm/relay/relay.h"
#include "farm/store/credential.h"
#include "farm/store/modules/module_store.h"
#include "farm/store/store.h"
#include "rpc/secure/key.h"
#include "rpc/server/event_loop.h"

namespace ferry::farm {

class BoardProber;
class HealthChecker;
struct CheckedBoard;
struct ProbedBoard;

// How an admin describes a board.
struct BoardSetting {
  std::string name;
  std::map<std::string, std::string> tags;
  std::string machine;
  bool shares_machine = false;
  std::string address;  // ssh://..., where the tracker acts for it; empty: it joins by itself
};

struct TrackerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 9191;  // 0: any free one
  secure::Key master;
  // Why nothing can be written; empty: it can.
  std::string read_only_reason;
  // Other trackers may use the database as well.
  bool is_shared = false;
  // Null: boards are good when they join.
  HealthChecker* health = nullptr;
  std::chrono::milliseconds health_idle = std::chrono::hours(1);
  // Null: boards with an address never join.
  BoardProber* prober = nullptr;
  std::size_t max_connections = 16'384;
  // The database of modules, a path or a URI of PostgreSQL; empty: the farm keeps none.
  std::string modules;
  std::uint64_t module_quota = wire::kDefaultModuleQuota;
  // Limits the relays of sessions with boards that clients cannot reach; without relays there are none.
  RelayLimits relay;
  // Called on the loop when a board's state changes.
  std::function<void(const std::string& board, BoardState before, BoardState after, const std::string& reason)>
      on_state = [](const std::string&, BoardState, BoardState, const std::string&) {};
  // Called on the loop whenever this tracker begins to schedule, after which it may be configured.
  std::function<void()> on_begin = [] {};
  // Called on the loop with lines for the log.
  std::function<void(const std::string&)> log = [](const std::string&) {};
  // Remembers a revocation outside of the database; by default nowhere.
  std::function<Status(const Credential&)> note_revocation = [](const Credential&) { return Status(); };
  // Called with the key of an admin whom the tracker has added because the farm has none.
  std::function<void(const secure::Key&)> on_first_admin = [](const secure::Key&) {};
};

class Tracker {
 public:
  // Binds the address. Fails if that is not possible.
  static Result<std::unique_ptr<Tracker>> open(server::EventLoop& loop, std::unique_ptr<Store> store,
                                               TrackerOptions options);
  virtual ~Tracker() = default;

  // "127.0.0.1:9191"
  virtual const std::string& address() const = 0;
  // On the loop: what a check has found.
  virtual void checked(const CheckedBoard& checked) = 0;
  // On the loop: what asking a board has found out.
  virtual void probed(const ProbedBoard& probed) = 0;
  // On the loop: another tracker of the database may schedule now, or none. It would find that out within a second.
  virtual void term_may_have_changed() = 0;
  virtual void set_health_idle(std::chrono::milliseconds idle) = 0;
  // On the loop: describes boards that are enrolled. One with an address is enrolled by that: it has no key. Returns
  // whether there is such a board now; true while this tracker does not schedule, because then nobody knows.
  virtual bool describe_board(const BoardSetting& setting) = 0;
  virtual void set_weight(const std::string& holder, double weight) = 0;
  // Ends all connections, and lets the loop end. Leases go on; what was committed is kept.
  virtual void stop() = 0;
  // For other threads. It answers while the loop runs.
  virtual Farm& farm() = 0;
};

}  // namespace ferry::farm
