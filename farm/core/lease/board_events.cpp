// Boards come, go and say how they are.
#include <algorithm>

#include "farm/core/lease/claims.h"
#include "farm/core/lease/handlers.h"
#include "farm/core/lease/lease_life.h"
#include "farm/core/lease/limits.h"
#include "farm/core/lease/servable.h"

namespace ferry::farm {
namespace {

// A board may say what it likes of itself, but not that it is another one.
void describe(State& state, Board& board, BoardDescription description, const std::string& name, Time now) {
  description.name = name;
  for (const auto& [key, value] : board.record.enrolled_tags) description.tags[key] = value;
  if (std::vector<std::string> names = remove_foreign_names(state.boards, board, description); !names.empty())
    state.outbox.send(ClaimsRefused{board.record.id, std::move(names)});
  if (board.record.description == description) return;
  board.record.description = std::move(description);
  state.outbox.record(board.record);
  state.pools.update(board.index, board.record.description);
  end_unservable(state, board, now);
  state.must_schedule = true;
}

// The name of a board that is new means that board alone, whoever has called itself so before.
void take_name_from_others(State& state, const Board& board, Time now) {
  for (std::uint32_t index = 0; index < state.boards.size(); ++index) {
    Board& other = state.boards.at(index);
    if (index != board.index) describe(state, other, other.record.description, other.record.description.name, now);
  }
}

// Compares the lease that the board serves with the one that it should.
void settle_lease(State& state, Board& board, const std::optional<lease::LeaseKey>& serving, Time now) {
  HeldBoard* part = part_of(state, board);
  Entry* entry = part == nullptr ? nullptr : state.find(*board.lease);
  if (part != nullptr && serving == key_of(*entry, *part)) return acknowledge(state, *entry, *part, std::nullopt, now);
  if (serving) state.outbox.after_commit(Withdraw{board.record.id, *serving});
  if (part == nullptr) return;
  if (entry->lease->is_granted || part->is_acknowledged) {
    end_request(state, *entry, EndReason::board_lost_lease,
                "board " + board.record.description.name + " does not serve the lease any more", now);
  } else {
    // Its epoch may be below the ceiling that the board has reported now.
    roll_back(state, *entry, now);
  }
}

void accept(State& state, Board& board, const BoardJoined& joined, Time now) {
  if (board.connected) {
    state.timers.cancel(TimerKind::board_silence, static_cast<std::uint64_t>(board.connected->id));
    state.outbox.send(CloseBoard{board.connected->id, "the board has connected again"});
  }
  board.record.last_epoch = std::max(board.record.last_epoch, joined.ceiling);
  board.is_paused = false;
  state.boards.connect(board, {joined.connection, joined.boot_id, joined.boot_time, now});
  state.has_queue_changed = true;
  state.timers.set(now + kSilence, TimerKind::board_silence, static_cast<std::uint64_t>(joined.connection));
  if (board.record.boot_id != joined.boot_id) {
    const bool is_moved = state.boards.set_boot_id(board, joined.boot_id);
    state.outbox.record(board.record);
    if (state.options.has_health_checks && board.record.state == BoardState::good)
      set_board_state(state, board, BoardState::unknown, "it has started again");
    // Requests for several boards may have counted on more machines.
    if (is_moved) end_unservable(state, board, now);
  }
  if (!state.options.has_health_checks && board.record.state == BoardState::unknown)
    set_board_state(state, board, BoardState::good, "it has joined");
  describe(state, board, joined.description, board.record.description.name, now);
  settle_lease(state, board, joined.serving, now);
}

void refuse_contender(State& state, Board& board, const std::string& reason) {
  if (!board.contender) return;
  state.outbox.send(CloseBoard{board.contender->connection, reason});
  state.contenders.erase(board.contender->connection);
  board.contender.reset();
  state.boards.refresh(board);
}

// A board stays hot until it has nearly reached its baseline again, so that it does not alternate.
bool is_hot(const Board& board, const BoardHeartbeat& heartbeat) {
  if (heartbeat.is_throttled) return true;
  if (!heartbeat.millidegrees || !board.record.baseline_millidegrees) return false;
  const std::int64_t above = std::int64_t{*heartbeat.millidegrees} - *board.record.baseline_millidegrees;
  return above > (board.is_hot ? kCoolMillidegrees : kHotMillidegrees);
}

}  // namespace

void lose_board(State& state, Board& board, Time now) {
  state.timers.cancel(TimerKind::board_silence, static_cast<std::uint64_t>(board.connected->id));
  state.boards.disconnect(board);
  board.left_at = now;
  state.has_queue_changed = true;
  if (!board.contender) return;
  const BoardJoined joined = *std::exchange(board.contender, std::nullopt);
  state.contenders.erase(joined.connection);
  accept(state, board, joined, now);
}

void handle_event(State& state, const BoardEnrolled& event, Time now) {
  Board* board = state.boards.find(event.board);
  if (board == nullptr) {
    BoardRecord record;
    record.id = event.board;
    record.machine = event.machine;
    record.shares_machine = event.shares_machine;
    board = &state.boards.add(std::move(record));
    state.outbox.record(board->record);
  }
  const bool is_other_machine =
      board->record.machine != event.machine || board->record.shares_machine != event.shares_machine;
  if (is_other_machine) {
    const bool is_moved = state.boards.set_machine(*board, event.machine, event.shares_machine);
    state.outbox.record(board->record);
    if (is_moved) end_unservable(state, *board, now);
  }
  BoardDescription description = board->record.description;
  for (const auto& [key, value] : board->record.enrolled_tags) description.tags.erase(key);
  board->record.enrolled_tags = event.tags;
  const bool is_new_name = board->record.description.name != event.name;
  if (is_new_name) state.boards.set_name(*board, event.name);
  describe(state, *board, std::move(description), event.name, now);
  if (is_new_name) take_name_from_others(state, *board, now);
}

void handle_event(State& state, const BoardJoined& event, Time now) {
  Board* board = state.boards.find(event.board);
  if (board == nullptr || board->record.state == BoardState::retired) {
    state.outbox.send(
        CloseBoard{event.connection, board == nullptr ? "this board is not enrolled" : "this board is retired"});
    return;
  }
  if (!board->connected || board->connected->boot_id == event.boot_id) {
    refuse_contender(state, *board, "the board has connected again");
    return accept(state, *board, event, now);
  }
  // The board has started again, or its key was copied: then the one that is connected still answers.
  refuse_contender(state, *board, "another board has its key");
  board->contender = event;
  state.contenders[event.connection] = event.board;
  state.boards.refresh(*board);
  state.outbox.send(ProbeBoard{board->connected->id, ++board->probe});
  state.timers.set(now + kProbeTimeout, TimerKind::probe, static_cast<std::uint64_t>(event.connection));
}

void handle_event(State& state, const BoardHeartbeat& event, Time now) {
  Board* board = state.boards.find(event.connection);
  if (board == nullptr) return;
  board->connected->boot_time = event.boot_time;
  board->connected->heard_at = now;
  if (board->contender && event.probe == board->probe) {
    refuse_contender(state, *board, "another board with the same key is connected");
    const BoardState before = board->record.state;
    if (before == BoardState::good || before == BoardState::unknown)
      set_board_state(state, *board, BoardState::suspect, "two boards have its key");
  }
  board->is_hot = is_hot(*board, event);
  board->is_paused = false;
  state.boards.refresh(*board);
}

void handle_event(State& state, const BoardLeft& event, Time now) {
  if (Board* board = state.boards.find(event.connection)) return lose_board(state, *board, now);
  const auto found = state.contenders.find(event.connection);
  if (found == state.contenders.end()) return;
  Board& board = *state.boards.find(found->second);
  state.contenders.erase(found);
  board.contender.reset();
  state.boards.refresh(board);
}

void handle_event(State& state, const BoardAcknowledged& event, Time now) {
  Board* board = state.boards.find(event.connection);
  if (board == nullptr) return;
  HeldBoard* part = part_of(state, *board);
  Entry* entry = part == nullptr ? nullptr : state.find(*board->lease);
  if (part != nullptr && event.key == key_of(*entry, *part))
    return acknowledge(state, *entry, *part, event.extension, now);
  state.outbox.after_commit(Withdraw{board->record.id, event.key});
}

void handle_event(State& state, const BoardLeaseOver& event, Time now) {
  Board* board = state.boards.find(event.connection);
  if (board == nullptr) return;
  HeldBoard* part = part_of(state, *board);
  if (part == nullptr || event.key != key_of(*state.find(*board->lease), *part)) return;
  Entry& entry = *state.find(*board->lease);
  if (!entry.lease->is_granted) return roll_back(state, entry, now);
  end_request(state, entry, EndReason::lease_expired, "the lease's time is over", now);
}

void handle_event(State& state, const HealthChecked& event, Time now) {
  Board* board = state.boards.find(event.board);
  if (board == nullptr) return;
  switch (board->record.state) {
    case BoardState::good:
    case BoardState::unknown:
      set_board_state(state, *board, event.has_passed ? BoardState::good : BoardState::suspect,
                      event.has_passed ? "it has passed a health check" : "it has failed a health check");
      break;
    case BoardState::suspect:
      set_board_state(state, *board, event.has_passed ? BoardState::good : BoardState::bad,
                      event.has_passed ? "it has passed a health check" : "it has failed a health check again");
      break;
    case BoardState::bad:
    case BoardState::maintenance:
    case BoardState::retired: return;
  }
  if (event.has_passed) board->unanswered = 0;
  end_unservable(state, *board, now);
}

void handle_event(State& state, const BaselineMeasured& event, Time) {
  Board* board = state.boards.find(event.board);
  if (board == nullptr) return;
  board->record.baseline_millidegrees = event.millidegrees;
  state.outbox.record(board->record);
}

void handle_event(State& state, const BoardOrdered& event, Time now) {
  Board* board = state.boards.find(event.board);
  if (board == nullptr) return;
  switch (event.order) {
    case BoardOrder::maintain: set_board_state(state, *board, BoardState::maintenance, "an admin maintains it"); break;
    case BoardOrder::retire: set_board_state(state, *board, BoardState::retired, "an admin has retired it"); break;
    case BoardOrder::return_to_service:
      board->unanswered = 0;
      set_board_state(state, *board, state.options.has_health_checks ? BoardState::unknown : BoardState::good,
                      "an admin has returned it to service");
      break;
  }
  end_unservable(state, *board, now);
}

}  // namespace ferry::farm
