#include "farm/core/lease/queue_notice.h"

#include <algorithm>
#include <map>

#include "farm/core/lease/handlers.h"
#include "farm/core/lease/wait_reason.h"

namespace ferry::farm {
namespace {

// Requests that ask for the same boards.
struct Group {
  BoardSet boards;               // those of all pools, and those on the same machines
  BoardSet competitors;          // the groups, itself included, that compete for some of these boards
  std::optional<Duration> turn;  // mean time after which the next of its boards is given back
  std::size_t requests = 0;      // counted so far
  std::size_t slots = 0;         // these requests' together
};

// Adds the boards of a pool and those that exclude one of them.
void add_with_same_machine(const State& state, const Pool& pool, BoardSet& boards) {
  boards.add(pool.boards);
  visit_common(pool.boards, state.boards.on_shared_machines(), [&](std::uint32_t index) {
    for (const std::uint32_t board : state.boards.unit_of(state.boards.at(index))) boards.set(board);
    return false;
  });
}

// With n boards that people keep for a mean time, one is given back every n-th part of that time.
std::optional<Duration> turn_of(const State& state, const Pool& pool) {
  std::size_t boards = 0, with_history = 0;
  double seconds = 0;
  visit_common(pool.boards, state.boards.pool(), [&](std::uint32_t index) {
    const Board& board = state.boards.at(index);
    ++boards;
    if (board.mean_hold_seconds > 0) ++with_history;
    seconds += board.mean_hold_seconds;
    return false;
  });
  if (with_history == 0) return std::nullopt;
  const double mean = seconds / static_cast<double>(with_history);
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(mean / static_cast<double>(boards)));
}

void add_group(std::vector<Group>& groups, const State& state, const std::vector<const Pool*>& pools) {
  const std::size_t index = groups.size();
  Group& added = groups.emplace_back();
  for (const Pool* pool : pools) {
    added.turn = std::max(added.turn, turn_of(state, *pool));
    add_with_same_machine(state, *pool, added.boards);
  }
  for (std::size_t other = 0; other < index; ++other) {
    if (!added.boards.intersects(groups[other].boards)) continue;
    added.competitors.set(other);
    groups[other].competitors.set(index);
  }
  added.competitors.set(index);
}

}  // namespace

std::vector<QueuePlace> queue_places(State& state, Time now) {
  update_shares(state, now);
  std::vector<const WaitingRequest*> requests;
  std::vector<Group> groups;
  std::vector<std::size_t> group_of;
  std::map<std::vector<const Pool*>, std::size_t> known;
  for (const Entry* entry : state.queue) {
    requests.push_back(&entry->waiting);
    std::vector<const Pool*> pools;
    for (const auto& pool : entry->pools) pools.push_back(pool.get());
    std::sort(pools.begin(), pools.end());
    pools.erase(std::unique(pools.begin(), pools.end()), pools.end());
    const auto [found, is_new] = known.try_emplace(pools, groups.size());
    group_of.push_back(found->second);
    if (is_new) add_group(groups, state, pools);
  }
  std::vector<QueuePlace> places;
  BoardSet counted;  // groups
  for (const std::size_t index : scheduling_order(requests, now)) {
    Group& own = groups[group_of[index]];
    QueuePlace& place = places.emplace_back(QueuePlace{state.queue[index], 1, std::nullopt});
    std::size_t slots = requests[index]->slots.size();
    visit_common(own.competitors, counted, [&](std::uint32_t other) {
      place.place += groups[other].requests;
      slots += groups[other].slots;
      return false;
    });
    if (own.turn) place.estimate = *own.turn * slots;
    counted.set(group_of[index]);
    ++own.requests;
    own.slots += requests[index]->slots.size();
  }
  return places;
}

void send_queue_notices(State& state, Time now) {
  if (!std::exchange(state.has_queue_changed, false)) return;
  for (const QueuePlace& place : queue_places(state, now)) {
    Entry& entry = *state.find(place.entry->request.id);
    if (!entry.client) continue;
    std::string why = wait_reason(state, entry);
    if (entry.told_place == place.place && entry.told_why == why) continue;
    entry.told_place = place.place;
    entry.told_why = why;
    state.outbox.send(TellWaiting{*entry.client, entry.request.id, place.place, place.estimate, std::move(why)});
  }
}

}  // namespace ferry::farm
