// The boards of the farm, by index, and which of them can be handed out.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/farm/lease/events.h"
#include "host/farm/lease/records.h"
#include "host/farm/schedule/board_set.h"
#include "host/farm/schedule/matching.h"

namespace ferry::farm {

struct ConnectedBoard {
  BoardConnection id{};
  std::uint64_t boot_id = 0;
  lease::BootTime boot_time;  // in its last heartbeat
  Time heard_at;              // when that arrived
};

struct Board {
  std::uint32_t index = 0;
  BoardRecord record;
  std::optional<ConnectedBoard> connected;
  // Another one that claims to be this board, until it is clear whether the connected one lives.
  std::optional<BoardJoined> contender;
  std::uint64_t probe = 0;
  std::optional<LeaseId> lease;
  Time lease_end;
  bool is_hot = false;
  bool is_paused = false;        // it has left an announcement unanswered; until its next heartbeat
  std::uint32_t unanswered = 0;  // announcements in a row
  double mean_hold_seconds = 0;  // of its leases; 0: it had none
};

class Boards {
 public:
  Board& add(BoardRecord record);
  Board* find(BoardId id);
  Board* find(BoardConnection connection);
  Board& at(std::uint32_t index) { return boards_[index]; }
  const Board& at(std::uint32_t index) const { return boards_[index]; }
  std::size_t size() const { return boards_.size(); }

  void connect(Board& board, const ConnectedBoard& connection);
  void disconnect(Board& board);
  void set_lease(Board& board, LeaseId lease, Time end);
  void end_lease(Board& board);
  void set_machine(Board& board, const std::string& machine, bool shares_machine);
  // Must be called after any other change of a board.
  void refresh(Board& board);

  // Whether a board has become available since the last call.
  bool take_gained() { return std::exchange(has_gained_, false); }

  const Units& units() const { return units_; }
  std::span<const Time> busy_until() const { return busy_until_; }
  const BoardSet& available() const { return available_; }
  // These may also be unknown or suspect.
  const BoardSet& available_for_checks() const { return available_for_checks_; }
  // Boards that will be available when the leases of their unit end.
  const BoardSet& returning() const { return returning_; }
  // Boards that may serve somebody at some time: neither bad nor retired.
  const BoardSet& pool() const { return pool_; }

 private:
  void join_unit(Board& board);
  void refresh_one(const Board& board, bool is_unit_free);

  std::deque<Board> boards_;
  std::unordered_map<BoardId, std::uint32_t> by_id_;
  std::unordered_map<BoardConnection, std::uint32_t> by_connection_;
  std::map<std::string, std::uint32_t> unit_of_machine_;
  Units units_;
  std::vector<Time> busy_until_;  // of each unit in use
  BoardSet available_, available_for_checks_, returning_, pool_;
  bool has_gained_ = false;
};

}  // namespace ferry::farm
