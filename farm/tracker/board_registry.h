// The boards of the farm: their names, and what they have told that the scheduler does not need.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "farm/protocol/messages.h"
#include "farm/tracker/active_scheduler.h"
#include "farm/tracker/peers.h"

namespace ferry::farm {

// The facts that a board has told on a connection.
struct BoardFacts {
  BoardId board{};
  std::string address;  // where clients reach it
  std::string server_version;
  wire::Heartbeat heartbeat;  // the last one
};

class BoardRegistry {
 public:
  // The scheduler must outlive this object.
  explicit BoardRegistry(const ActiveScheduler& scheduler) : scheduler_(scheduler) {}
  BoardRegistry(const BoardRegistry&) = delete;
  BoardRegistry& operator=(const BoardRegistry&) = delete;

  // Replaces all names.
  void load(std::span<const BoardRecord> boards);
  // A name belongs to its board for good.
  void set_name(const std::string& name, BoardId board) { by_name_[name] = board; }
  const std::map<std::string, BoardId>& by_name() const { return by_name_; }
  std::optional<BoardId> find(const std::string& name) const;
  // "b2" or, for a board that is unknown, its number.
  std::string name_of(BoardId board) const;

  // More than one connection may claim to be the same board until the scheduler has decided.
  void connect(ConnectionNumber number, BoardFacts facts) { connections_[number] = std::move(facts); }
  // Keeps the facts as the last ones of their board. Does nothing if there is no such connection.
  void disconnect(ConnectionNumber number);
  // Forgets the facts of all connections.
  void disconnect_all() { connections_.clear(); }
  std::size_t connected() const { return connections_.size(); }
  // Null if this is no connection of a board; valid until it is disconnected.
  BoardFacts* find_connection(ConnectionNumber number);
  // The facts from its connection, or else from its last one; null if it has not connected yet.
  const BoardFacts* facts_of(const BoardView& board) const;

 private:
  const ActiveScheduler& scheduler_;
  std::map<std::string, BoardId> by_name_;
  std::unordered_map<ConnectionNumber, BoardFacts> connections_;
  std::unordered_map<BoardId, BoardFacts> last_facts_;  // what boards that have left had told
};

}  // namespace ferry::farm
