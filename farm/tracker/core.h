// The state that the parts of a tracker share. All of it belongs to the tracker's loop.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "farm/api/farm.h"
#include "farm/relay/relay.h"
#include "farm/relay/relay_tokens.h"
#include "farm/store/modules/module_thread.h"
#include "farm/tracker/database.h"
#include "farm/tracker/key_directory.h"
#include "farm/tracker/module_shares.h"
#include "farm/tracker/peers.h"
#include "farm/tracker/scheduler.h"

namespace ferry::farm {

// The facts that a board has told on a connection and that the scheduler does not need.
struct BoardFacts {
  BoardId board{};
  std::string address;  // where clients reach it
  std::string server_version;
  wire::Heartbeat heartbeat;  // the last one
};

struct ConnectedClient {
  Caller caller;
  std::string name;              // what it says of itself
  std::size_t queries = 0;       // those that are not answered yet
  std::string audited_baseline;  // the last one that it has set
  bool sends_object = false;     // whether more pieces of one are to come
};

struct Core {
  Core(server::EventLoop& event_loop, const secure::Key& master, PeerHandler& handler)
      : loop(event_loop), keys(master), peers(event_loop, handler) {}

  server::EventLoop& loop;
  KeyDirectory keys;
  Peers peers;
  std::unique_ptr<Database> database;
  std::unique_ptr<ModuleThread> modules;  // null: the farm keeps none
  ModuleShares module_shares;
  std::unique_ptr<Scheduler> scheduler;  // null: this tracker does not schedule
  std::string read_only_reason;          // not empty: it never will

  std::map<std::string, BoardId> names;  // all boards by their names, which are theirs for good
  // More than one connection may claim to be the same board until the scheduler has decided.
  std::unordered_map<ConnectionNumber, BoardFacts> board_connections;
  std::unordered_map<BoardId, BoardFacts> last_facts;  // what boards that have left had told
  std::unordered_map<ConnectionNumber, ConnectedClient> clients;
  // Connections under the key of an enrolment, which only wait for their own key.
  std::unordered_map<ConnectionNumber, BoardId> enrolling;

  // Sessions that have ended, which are written together each second. What is beyond the limits is lost, so that a
  // board that reports very many neither displaces those of others nor fills the disk.
  static constexpr std::size_t kMaxSessions = 1000;
  static constexpr std::size_t kMaxSessionsOfBoard = 250;
  static constexpr std::size_t kMaxReportsOfBoard = 10;  // longer than kMaxText
  struct SessionCount {
    std::size_t sessions = 0, reports = 0;
  };
  std::vector<SessionEntry> sessions;
  std::unordered_map<BoardId, SessionCount> sessions_of;

  // Attempts of each holder to use ids of others (foreign_ids.h).
  struct ForeignIds {
    Time audited{};
    std::uint64_t left_out = 0;  // since then
  };
  std::map<std::string, ForeignIds> foreign_ids;

  RelayTokens relay_tokens;
  std::unique_ptr<Relay> relay;         // null: there are no relays
  std::set<std::uint64_t> leases_over;  // those that still had relays at the last look

  FarmNumbers numbers;  // those that only count
  std::function<void(const std::string&)> log;
  std::function<void(const std::string&, BoardState, BoardState, const std::string&)> on_state;
  std::unordered_map<BoardId, BoardState> states;  // as last told
  std::function<void()> on_change;                 // called when what listings show changes
  // Remembers a revocation outside of the database, which may be restored from a backup.
  std::function<Status(const Credential&)> note_revocation;

  void handle(const Event& event) {
    if (scheduler) scheduler->handle(event);
  }
  // "b2" or, for a board that is unknown, its number.
  std::string name_of(BoardId board) const;
  std::optional<BoardId> find_board(const std::string& name) const;
  // The facts from its connection, or else from its last one; null if it has not connected yet.
  const BoardFacts* facts_of(const BoardView& board) const;
  // Writes an entry of the audit log, then calls then() with whether that succeeded.
  void audit(const Caller& who, const std::string& action, std::optional<BoardId> board, const std::string& text,
             std::function<void(const Status&)> then);
};

}  // namespace ferry::farm
