#include "farm/tracker/board_registry.h"

#include <utility>

namespace ferry::farm {

void BoardRegistry::load(std::span<const BoardRecord> boards) {
  by_name_.clear();
  for (const BoardRecord& board : boards) by_name_[board.description.name] = board.id;
}

std::optional<BoardId> BoardRegistry::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

std::string BoardRegistry::name_of(BoardId board) const {
  const auto view = scheduler_ ? scheduler_.machine().find_board(board) : std::nullopt;
  return view ? view->record->description.name : std::to_string(static_cast<std::uint64_t>(board));
}

void BoardRegistry::disconnect(ConnectionNumber number) {
  const auto found = connections_.find(number);
  if (found == connections_.end()) return;
  const BoardId board = found->second.board;
  last_facts_[board] = std::move(found->second);
  connections_.erase(found);
}

BoardFacts* BoardRegistry::find_connection(ConnectionNumber number) {
  const auto found = connections_.find(number);
  return found == connections_.end() ? nullptr : &found->second;
}

const BoardFacts* BoardRegistry::facts_of(const BoardView& board) const {
  if (board.connection) {
    const auto found = connections_.find(static_cast<ConnectionNumber>(*board.connection));
    if (found != connections_.end()) return &found->second;
  }
  const auto last = last_facts_.find(board.record->id);
  return last == last_facts_.end() ? nullptr : &last->second;
}

}  // namespace ferry::farm
