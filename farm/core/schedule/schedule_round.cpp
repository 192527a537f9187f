#include "farm/core/schedule/schedule_round.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "farm/core/schedule/expected_start.h"

namespace ferry::farm {
namespace {

// A request's place in the order, computed once because comparing needs it often.
struct Rank {
  std::int64_t priority = 0;
  double share = 0;
  Time submitted;
  std::uint64_t id = 0;
  std::size_t index = 0;

  // Heaps have the greatest at the front.
  bool operator<(const Rank& other) const {
    return std::tuple(priority, -share, -submitted.time_since_epoch(), ~id) <
           std::tuple(other.priority, -other.share, -other.submitted.time_since_epoch(), ~other.id);
  }
};

Rank rank_of(const WaitingRequest& request, std::size_t index, Time now) {
  const std::int64_t priority = request.priority + (now - request.submitted) / kPriorityStep;
  return {priority, request.share, request.submitted, request.id, index};
}

using Pool = std::pair<const BoardSet*, const BoardSet*>;

Pool pool_of(const SlotBoards& slot) { return {slot.eligible, slot.available}; }

class Round {
 public:
  Round(std::span<const WaitingRequest* const> requests, const Supply& supply, Time now)
      : requests_(requests), supply_(supply), now_(now), matching_(*supply.units) {}

  void consider(std::size_t index) {
    const WaitingRequest& request = *requests_[index];
    const bool has_several = request.slots.size() > 1;
    std::vector<Matching::Slot> slots;
    if (has_several || !failed_.contains(pool_of(request.slots[0]))) {
      for (const SlotBoards& boards : request.slots) slots.push_back(matching_.add(boards));
      if (place_all(slots, false)) return start(index, std::move(slots));
      if (has_several && !collector_) return collect(index, std::move(slots));
      for (const Matching::Slot slot : slots) matching_.vacate(slot);
      // Later slots with the same boards will not get one either, because those that have one keep it.
      if (!has_several) failed_.insert(pool_of(request.slots[0]));
    }
    if (!may_backfill(request)) return;
    if (slots.empty()) slots.push_back(matching_.add(request.slots[0]));
    const bool is_placed = place_all(slots, true);
    if (is_placed) {
      start(index, std::move(slots));
    } else {
      for (const Matching::Slot slot : slots) matching_.vacate(slot);
    }
    // Slots that lost a board may get another.
    for (const Matching::Slot slot : held_) matching_.place(slot);
  }

  // Whether requests for one board get none any more, if these are the only pools that they ask for.
  bool is_exhausted(const std::set<Pool>& pools) const { return held_.empty() && failed_.size() == pools.size(); }

  std::vector<Start> starts() const {
    std::vector<Start> result;
    for (const auto& [index, slots] : started_) {
      Start& start = result.emplace_back(Start{index, {}});
      for (const Matching::Slot slot : slots) start.boards.push_back(*matching_.board_of(slot));
    }
    return result;
  }

 private:
  bool place_all(const std::vector<Matching::Slot>& slots, bool may_take_held) {
    return std::all_of(slots.begin(), slots.end(),
                       [&](Matching::Slot slot) { return matching_.place(slot, may_take_held); });
  }

  void start(std::size_t index, std::vector<Matching::Slot> slots) {
    for (const Matching::Slot slot : slots) {
      if (slot >= request_of_.size()) request_of_.resize(slot + 1);
      request_of_[slot] = index;
    }
    started_.emplace_back(index, std::move(slots));
  }

  // Holds as many boards as possible for the request, unless it is unknown when it could start.
  void collect(std::size_t index, std::vector<Matching::Slot> slots) {
    std::vector<std::uint32_t> held;
    for (const Matching::Slot slot : slots)
      if (matching_.place(slot)) held.push_back(*matching_.board_of(slot));
    if (!held.empty()) expected_start_ = expected_start(requests_[index]->slots, held, *supply_.units, free_at());
    if (held.empty() || expected_start_ == kNever) {
      // The next request for several boards may collect instead.
      for (const Matching::Slot slot : slots) matching_.vacate(slot);
      return;
    }
    collector_ = index;
    for (const Matching::Slot slot : slots) matching_.set_held(slot, true);
    held_ = std::move(slots);
  }

  std::function<Time(std::uint32_t)> free_at() const {
    return [this](std::uint32_t board) {
      const std::uint32_t unit = supply_.units->unit_of[board];
      const auto slot = matching_.slot_in(unit);
      if (slot && *slot < request_of_.size() && request_of_[*slot])
        return now_ + requests_[*request_of_[*slot]]->length;
      return supply_.returning->contains(board) ? supply_.busy_until[unit] : kNever;
    };
  }

  bool may_backfill(const WaitingRequest& request) const {
    if (held_.empty()) return false;
    return request.holder == requests_[*collector_]->holder || now_ + request.length <= expected_start_;
  }

  std::span<const WaitingRequest* const> requests_;
  const Supply& supply_;
  Time now_;
  Matching matching_;
  std::vector<std::pair<std::size_t, std::vector<Matching::Slot>>> started_;
  std::vector<std::optional<std::size_t>> request_of_;  // for each slot whose request starts
  std::set<Pool> failed_;
  std::optional<std::size_t> collector_;
  std::vector<Matching::Slot> held_;
  Time expected_start_ = kNever;
};

}  // namespace

std::vector<std::size_t> scheduling_order(std::span<const WaitingRequest* const> requests, Time now) {
  std::vector<Rank> ranks;
  for (std::size_t i = 0; i < requests.size(); ++i) ranks.push_back(rank_of(*requests[i], i, now));
  std::sort(ranks.begin(), ranks.end(), [](const Rank& a, const Rank& b) { return b < a; });
  std::vector<std::size_t> order;
  for (const Rank& rank : ranks) order.push_back(rank.index);
  return order;
}

std::vector<Start> plan_round(std::span<const WaitingRequest* const> requests, const Supply& supply, Time now) {
  // Many requests ask for the same boards.
  std::map<Pool, bool> has_board;
  const auto may_get_a_board = [&](const SlotBoards& slot) {
    const auto [found, is_new] = has_board.try_emplace(pool_of(slot), false);
    if (is_new) found->second = slot.eligible->intersects(*slot.available);
    return found->second;
  };
  std::vector<Rank> candidates;
  std::set<Pool> pools;
  std::size_t with_several = 0;
  bool any = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const WaitingRequest& request = *requests[i];
    const bool may_start = std::any_of(request.slots.begin(), request.slots.end(), may_get_a_board);
    any = any || may_start;
    // A request for several boards may be the one that collects, even if it can hold none yet.
    const bool has_several = request.slots.size() > 1;
    if (!has_several && !may_start) continue;
    candidates.push_back(rank_of(request, i, now));
    if (has_several) {
      ++with_several;
    } else {
      pools.insert(pool_of(request.slots[0]));
    }
  }
  if (!any) return {};
  std::make_heap(candidates.begin(), candidates.end());
  Round round(requests, supply, now);
  while (!candidates.empty() && (with_several > 0 || !round.is_exhausted(pools))) {
    std::pop_heap(candidates.begin(), candidates.end());
    const std::size_t index = candidates.back().index;
    candidates.pop_back();
    if (requests[index]->slots.size() > 1) --with_several;
    round.consider(index);
  }
  return round.starts();
}

}  // namespace ferry::farm
