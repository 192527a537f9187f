#include "farm/core/lease/boards.h"

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
  if (!board.record.description.name.empty()) by_name_[board.record.description.name] = board.index;
  units_.unit_of.push_back(0);
  join_unit(board);
  refresh_unit(units_.unit_of[board.index]);
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

const Board* Boards::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &boards_[found->second];
}

void Boards::set_name(Board& board, const std::string& name) {
  by_name_.erase(board.record.description.name);
  by_name_[name] = board.index;
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
  refresh_unit(units_.unit_of[board.index]);
}

void Boards::end_lease(Board& board) {
  board.lease.reset();
  refresh_unit(units_.unit_of[board.index]);
}

bool Boards::set_machine(Board& board, const std::string& machine, bool shares_machine) {
  return change_machine(board, [&](BoardRecord& record) {
    record.machine = machine;
    record.shares_machine = shares_machine;
  });
}

bool Boards::set_boot_id(Board& board, std::uint64_t boot_id) {
  return change_machine(board, [&](BoardRecord& record) { record.boot_id = boot_id; });
}

const Board* Boards::leased_neighbour(const Board& board) const {
  if (leases_in_[units_.unit_of[board.index]] == 0) return nullptr;
  for (const std::uint32_t index : unit_of(board))
    if (index != board.index && boards_[index].lease) return &boards_[index];
  return nullptr;
}

Boards::Machine Boards::machine_of(const BoardRecord& record) {
  if (record.shares_machine) return std::nullopt;
  if (!record.machine.empty()) return std::pair(record.machine, std::uint64_t{0});
  if (record.boot_id == 0) return std::nullopt;
  return std::pair(std::string(), record.boot_id);
}

template <class Change>
bool Boards::change_machine(Board& board, const Change& change) {
  const Machine before = machine_of(board.record);
  change(board.record);
  if (machine_of(board.record) == before) return false;
  leave_unit(board, before);
  join_unit(board);
  refresh_unit(units_.unit_of[board.index]);
  return true;
}

void Boards::leave_unit(Board& board, const Machine& machine) {
  const std::uint32_t unit = units_.unit_of[board.index];
  std::erase(units_.boards_of[unit], board.index);
  if (!units_.boards_of[unit].empty()) return refresh_unit(unit);
  if (machine) unit_of_machine_.erase(machine);
  unused_units_.push_back(unit);
}

void Boards::join_unit(Board& board) {
  const Machine machine = machine_of(board.record);
  const auto known = machine ? unit_of_machine_.find(machine) : unit_of_machine_.end();
  std::uint32_t unit = 0;
  if (known != unit_of_machine_.end()) {
    unit = known->second;
  } else if (!unused_units_.empty()) {
    unit = unused_units_.back();
    unused_units_.pop_back();
  } else {
    unit = static_cast<std::uint32_t>(units_.boards_of.size());
    units_.boards_of.emplace_back();
    busy_until_.emplace_back();
    leases_in_.emplace_back();
  }
  if (machine) unit_of_machine_[machine] = unit;
  units_.unit_of[board.index] = unit;
  units_.boards_of[unit].push_back(board.index);
}

void Boards::refresh_unit(std::uint32_t unit) {
  const std::vector<std::uint32_t>& boards = units_.boards_of[unit];
  leases_in_[unit] = 0;
  busy_until_[unit] = Time{};
  for (const std::uint32_t index : boards) {
    if (!boards_[index].lease) continue;
    ++leases_in_[unit];
    busy_until_[unit] = std::max(busy_until_[unit], boards_[index].lease_end);
  }
  for (const std::uint32_t index : boards) {
    on_shared_machines_.set(index, boards.size() > 1);
    refresh_one(boards_[index], leases_in_[unit] == 0);
  }
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
  excluded_.set(board.index, is_good && is_ready && !is_unit_free && !board.lease);
  // While it is in use, a board may be as hot as it likes.
  returning_.set(board.index, is_good && board.connected && !is_unit_free);
  pool_.set(board.index, state != BoardState::bad && state != BoardState::retired);
  if (available_for_checks_.contains(board.index) && !was_available) has_gained_ = true;
}

}  // namespace ferry::farm
