// The functions of the lease machine that show its state.
#include "farm/core/lease/lease_machine.h"
#include "farm/core/lease/queue_notice.h"
#include "farm/core/lease/state.h"

namespace ferry::farm {
namespace {

BoardView view_of(const State& state, const Board& board) {
  BoardView view{&board.record, {}, board.is_hot, board.lease, {}};
  if (board.connected) view.connection = board.connected->id;
  if (const Board* neighbour = state.boards.leased_neighbour(board)) view.leased_neighbour = neighbour->record.id;
  return view;
}

std::optional<BoardId> blocked_by(const State& state, const Entry& entry) {
  for (const auto& pool : entry.pools) {
    std::optional<BoardId> neighbour;
    if (pool->boards.intersects(state.boards.available())) continue;
    visit_common(pool->boards, state.boards.excluded(), [&](std::uint32_t index) {
      neighbour = state.boards.leased_neighbour(state.boards.at(index))->record.id;
      return true;
    });
    if (neighbour) return neighbour;
  }
  return std::nullopt;
}

RequestView view_of(const State& state, const Entry& entry) {
  RequestView view{&entry.request, entry.waiting.submitted, {}, {}, false};
  if (!entry.lease) return view;
  for (const HeldBoard& part : entry.lease->parts)
    view.parts.push_back({state.boards.at(part.board).record.id, part.epoch});
  view.end = entry.lease->end;
  view.is_granted = entry.lease->is_granted;
  return view;
}

}  // namespace

std::vector<QueuedRequest> LeaseMachine::queue(Time now) const {
  std::vector<QueuedRequest> queued;
  if (state_ == nullptr) return queued;
  for (const QueuePlace& place : queue_places(*state_, now))
    queued.push_back({place.entry->request.id, place.entry->request.holder, place.place, place.estimate,
                      blocked_by(*state_, *place.entry)});
  return queued;
}

std::size_t LeaseMachine::waiting() const { return state_ == nullptr ? 0 : state_->queue.size(); }

std::vector<RequestView> LeaseMachine::leases() const {
  std::vector<RequestView> views;
  if (state_ == nullptr) return views;
  for (const auto& [id, entry] : state_->entries)
    if (entry->lease) views.push_back(view_of(*state_, *entry));
  return views;
}

std::optional<RequestView> LeaseMachine::find_request(LeaseId id) const {
  const Entry* entry = state_ == nullptr ? nullptr : state_->find(id);
  if (entry == nullptr) return std::nullopt;
  return view_of(*state_, *entry);
}

std::vector<BoardView> LeaseMachine::boards() const {
  std::vector<BoardView> views;
  if (state_ == nullptr) return views;
  for (std::uint32_t index = 0; index < state_->boards.size(); ++index)
    views.push_back(view_of(*state_, state_->boards.at(index)));
  return views;
}

std::optional<BoardView> LeaseMachine::find_board(BoardId id) const {
  const Board* board = state_ == nullptr ? nullptr : state_->boards.find(id);
  if (board == nullptr) return std::nullopt;
  return view_of(*state_, *board);
}

std::vector<BoardId> LeaseMachine::boards_on_same_machine(BoardId id, std::size_t most) const {
  std::vector<BoardId> others;
  const Board* board = state_ == nullptr ? nullptr : state_->boards.find(id);
  if (board == nullptr) return others;
  for (const std::uint32_t index : state_->boards.unit_of(*board))
    if (index != board->index && others.size() < most) others.push_back(state_->boards.at(index).record.id);
  return others;
}

}  // namespace ferry::farm
