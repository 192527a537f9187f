// The boards of the farm, by index, and which of them can be handed out.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "farm/core/lease/events.h"
#include "farm/core/lease/records.h"
#include "farm/core/schedule/board_set.h"
#include "farm/core/schedule/matching.h"

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
  std::optional<Time> left_at;  // when it has disconnected; nothing: not since the tracker's start
  bool is_hot = false;
  bool is_paused = false;        // it has left an announcement unanswered; until its next heartbeat
  std::uint32_t unanswered = 0;  // announcements in a row
  double mean_hold_seconds = 0;  // the mean over its leases; 0: it had none
};

class Boards {
 public:
  Board& add(BoardRecord record);
  Board* find(BoardId id);
  Board* find(BoardConnection connection);
  // The board with this name, which is its own for good; null if there is none.
  const Board* find(std::string_view name) const;
  Board& at(std::uint32_t index) { return boards_[index]; }
  const Board& at(std::uint32_t index) const { return boards_[index]; }
  std::size_t size() const { return boards_.size(); }

  void set_name(Board& board, const std::string& name);
  void connect(Board& board, const ConnectedBoard& connection);
  void disconnect(Board& board);
  void set_lease(Board& board, LeaseId lease, Time end);
  void end_lease(Board& board);
  // Both return whether other boards exclude this one now than before.
  bool set_machine(Board& board, const std::string& machine, bool shares_machine);
  bool set_boot_id(Board& board, std::uint64_t boot_id);
  // Must be called after any other change of a board.
  void refresh(Board& board) { refresh_one(board, leases_in_[units_.unit_of[board.index]] == 0); }

  // The boards of this one's machine that it excludes and that exclude it, itself included.
  std::span<const std::uint32_t> unit_of(const Board& board) const {
    return units_.boards_of[units_.unit_of[board.index]];
  }
  // Another board of the machine that is leased; null if there is none.
  const Board* leased_neighbour(const Board& board) const;

  // Whether a board has become available since the last call.
  bool take_gained() { return std::exchange(has_gained_, false); }

  const Units& units() const { return units_; }
  std::span<const Time> busy_until() const { return busy_until_; }
  const BoardSet& available() const { return available_; }
  // These may also be unknown or suspect.
  const BoardSet& available_for_checks() const { return available_for_checks_; }
  // Boards that will be available when the leases of their unit end.
  const BoardSet& returning() const { return returning_; }
  // Boards that would be available if no other board of their machine were leased.
  const BoardSet& excluded() const { return excluded_; }
  // Boards that are not the only ones of their machine.
  const BoardSet& on_shared_machines() const { return on_shared_machines_; }
  // Boards that may serve somebody at some time: neither bad nor retired.
  const BoardSet& pool() const { return pool_; }

 private:
  // A machine by its name or, where it has none, by the id of its start; nothing: the board excludes no other.
  using Machine = std::optional<std::pair<std::string, std::uint64_t>>;
  static Machine machine_of(const BoardRecord& record);

  // Changes what `change` changes of the record, and the unit if that follows from it.
  template <class Change>
  bool change_machine(Board& board, const Change& change);
  void join_unit(Board& board);
  void leave_unit(Board& board, const Machine& machine);
  void refresh_unit(std::uint32_t unit);
  void refresh_one(const Board& board, bool is_unit_free);

  std::deque<Board> boards_;
  std::unordered_map<BoardId, std::uint32_t> by_id_;
  std::unordered_map<BoardConnection, std::uint32_t> by_connection_;
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  std::map<Machine, std::uint32_t> unit_of_machine_;
  Units units_;
  std::vector<std::uint32_t> unused_units_;  // without boards
  std::vector<Time> busy_until_;             // for each unit in use
  std::vector<std::uint32_t> leases_in_;     // number of boards of each unit that are leased
  BoardSet available_, available_for_checks_, returning_, excluded_, on_shared_machines_, pool_;
  bool has_gained_ = false;
};

}  // namespace ferry::farm
