#include "farm/tracker/core.h"

namespace ferry::farm {

std::string Core::name_of(BoardId board) const {
  const auto view = scheduler ? scheduler->machine().find_board(board) : std::nullopt;
  return view ? view->record->description.name : std::to_string(static_cast<std::uint64_t>(board));
}

std::optional<BoardId> Core::find_board(const std::string& name) const {
  const auto found = names.find(name);
  if (found == names.end()) return std::nullopt;
  return found->second;
}

const BoardFacts* Core::facts_of(const BoardView& board) const {
  if (board.connection) {
    const auto found = board_connections.find(static_cast<ConnectionNumber>(*board.connection));
    if (found != board_connections.end()) return &found->second;
  }
  const auto last = last_facts.find(board.record->id);
  return last == last_facts.end() ? nullptr : &last->second;
}

void Core::audit(const Caller& who, const std::string& action, std::optional<BoardId> board, const std::string& text,
                 std::function<void(const Status&)> then) {
  log(who.holder + ": " + action + (board ? " " + name_of(*board) : "") + (text.empty() ? "" : " " + text));
  if (!scheduler) return then({ErrorCode::unavailable, "this tracker does not schedule any more"});
  AuditEntry entry{scheduler->now(), who.holder, action, board, text};
  database->ask([entry = std::move(entry)](Store& store) { return store.add_audit_entry(entry); }, std::move(then));
}

}  // namespace ferry::farm
