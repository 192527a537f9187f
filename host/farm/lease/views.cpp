// What can be seen of the machine's state.
#include "host/farm/lease/lease_machine.h"
#include "host/farm/lease/queue_notice.h"
#include "host/farm/lease/state.h"

namespace ferry::farm {
namespace {

BoardView view_of(const Board& board) {
  BoardView view{&board.record, {}, board.is_hot, board.lease};
  if (board.connected) view.connection = board.connected->id;
  return view;
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
    queued.push_back({place.entry->request.id, place.entry->request.holder, place.place, place.estimate});
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
    views.push_back(view_of(state_->boards.at(index)));
  return views;
}

std::optional<BoardView> LeaseMachine::find_board(BoardId id) const {
  const Board* board = state_ == nullptr ? nullptr : state_->boards.find(id);
  if (board == nullptr) return std::nullopt;
  return view_of(*board);
}

}  // namespace ferry::farm
