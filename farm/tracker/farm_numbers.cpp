#include "farm/tracker/farm_numbers.h"

#include "farm/protocol/shown_state.h"

namespace ferry::farm {

void count_scheduled(const ActiveScheduler& scheduler, FarmNumbers& numbers) {
  numbers.is_scheduling = static_cast<bool>(scheduler);
  if (!scheduler) return;
  for (const BoardView& board : scheduler.machine().boards()) {
    ++numbers.boards_by_state[shown_state(board_state_name(board.record->state), board.connection.has_value())];
    if (board.lease) ++numbers.boards_leased;
  }
  numbers.requests_waiting = scheduler.machine().waiting();
  for (const auto& [reason, count] : scheduler->ended()) numbers.ended_by_reason[end_reason_name(reason)] = count;
  numbers.longest_commit_seconds = scheduler->longest_commit();
}

}  // namespace ferry::farm
