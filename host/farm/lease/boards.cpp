#include "host/farm/lease/boards.h"

#include <algorithm>
#include <utility>

namespace ferry::farm {

const char* board_state_name(BoardState state) {
  switch (state) {
    case BoardState::good: return "good";
    case BoardState::unknown: return "unknown";
    case BoardState::suspect: return "suspect";
    case BoardState::bad: return "bad";
    case BoardState::maintenance: return "maintenance";
    case BoardState::retired: return "retired";
  }
  return "unknown";
}

Board& Boards::add(BoardRecord record) {
  Board& board = boards_.emplace_back();
  board.index = static_cast<std::uint32_t>(boards_.size() - 1);
  board.record = std::move(record);
  by_id_[board.record.id] = board.index;
  units_.unit_of.push_back(0);
  join_unit(board);
  refresh(board);
  return board;
}

Board* Boards::find(BoardId id) {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &boards_[found->second];
}

Board* Boards::find(BoardConnection connection) {
  const auto found = by_connection_.find(connection);
  return found == by_connection_.end() ? nullptr : &boards_[found->second];
}

void Boards::connect(Board& board, const ConnectedBoard& connection) {
  if (board.connected) by_connection_.erase(board.connected->id);
  board.connected = connection;
  by_connection_[connection.id] = board.index;
  refresh(board);
}

void Boards::disconnect(Board& board) {
  by_connection_.erase(board.connected->id);
  board.connected.reset();
  refresh(board);
}

void Boards::set_lease(Board& board, LeaseId lease, Time end) {
  board.lease = lease;
  board.lease_end = end;
  refresh(board);
}

void Boards::end_lease(Board& board) {
  board.lease.reset();
  refresh(board);
}

void Boards::set_machine(Board& board, const std::string& machine, bool shares_machine) {
  if (board.record.machine == machine && board.record.shares_machine == shares_machine) return;
  std::erase(units_.boards_of[units_.unit_of[board.index]], board.index);
  const std::vector<std::uint32_t> left = units_.boards_of[units_.unit_of[board.index]];
  board.record.machine = machine;
  board.record.shares_machine = shares_machine;
  join_unit(board);
  refresh(board);
  if (!left.empty()) refresh(boards_[left.front()]);
}

void Boards::join_unit(Board& board) {
  const auto made = static_cast<std::uint32_t>(units_.boards_of.size());
  std::uint32_t unit = made;
  if (!board.record.machine.empty() && !board.record.shares_machine)
    unit = unit_of_machine_.emplace(board.record.machine, made).first->second;
  if (unit == made) {
    units_.boards_of.emplace_back();
    busy_until_.emplace_back();
  }
  units_.unit_of[board.index] = unit;
  units_.boards_of[unit].push_back(board.index);
}

void Boards::refresh(Board& board) {
  const std::uint32_t unit = units_.unit_of[board.index];
  bool is_free = true;
  Time until{};
  for (const std::uint32_t index : units_.boards_of[unit]) {
    if (!boards_[index].lease) continue;
    is_free = false;
    until = std::max(until, boards_[index].lease_end);
  }
  busy_until_[unit] = until;
  for (const std::uint32_t index : units_.boards_of[unit]) refresh_one(boards_[index], is_free);
}

void Boards::refresh_one(const Board& board, bool is_unit_free) {
  const BoardState state = board.record.state;
  const bool is_good = state == BoardState::good;
  const bool is_checkable = is_good || state == BoardState::unknown || state == BoardState::suspect;
  const bool is_ready = board.connected && !board.contender && !board.is_hot && !board.is_paused;
  const bool was_available =
      available_for_checks_.contains(board.index) && (available_.contains(board.index) || !is_good);
  available_.set(board.index, is_good && is_ready && is_unit_free);
  available_for_checks_.set(board.index, is_checkable && is_ready && is_unit_free);
  // While it is in use, a board may be as hot as it likes.
  returning_.set(board.index, is_good && board.connected && !is_unit_free);
  pool_.set(board.index, state != BoardState::bad && state != BoardState::retired);
  if (available_for_checks_.contains(board.index) && !was_available) has_gained_ = true;
}

}  // namespace ferry::farm
