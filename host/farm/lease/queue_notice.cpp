#include "host/farm/lease/queue_notice.h"

#include <algorithm>
#include <map>

#include "host/farm/lease/handlers.h"

namespace ferry::farm {
namespace {

// Requests that ask for the same boards, in the order in which they are considered.
struct Competitors {
  std::vector<const Pool*> pools;
  std::size_t requests = 0;      // counted so far
  std::size_t slots = 0;         // of these requests
  std::optional<Duration> turn;  // mean time after which the next of their boards is given back
};

bool compete(const Competitors& a, const Competitors& b) {
  return std::any_of(a.pools.begin(), a.pools.end(), [&](const Pool* one) {
    return std::any_of(b.pools.begin(), b.pools.end(),
                       [&](const Pool* other) { return one->boards.intersects(other->boards); });
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

}  // namespace

std::vector<QueuePlace> queue_places(State& state, Time now) {
  update_shares(state, now);
  std::vector<const WaitingRequest*> requests;
  for (const Entry* entry : state.queue) requests.push_back(&entry->waiting);
  std::map<std::vector<const Pool*>, Competitors> groups;
  std::vector<QueuePlace> places;
  for (const std::size_t index : scheduling_order(requests, now)) {
    const Entry& entry = *state.queue[index];
    std::vector<const Pool*> pools;
    for (const auto& pool : entry.pools) pools.push_back(pool.get());
    std::sort(pools.begin(), pools.end());
    pools.erase(std::unique(pools.begin(), pools.end()), pools.end());
    const auto [found, is_new] = groups.try_emplace(pools);
    Competitors& own = found->second;
    if (is_new) {
      own.pools = pools;
      for (const Pool* pool : pools) own.turn = std::max(own.turn, turn_of(state, *pool));
    }
    QueuePlace& place = places.emplace_back(QueuePlace{&entry, 1, std::nullopt});
    std::size_t slots = entry.pools.size();
    for (const auto& [key, other] : groups) {
      if (other.requests == 0 || !compete(own, other)) continue;
      place.place += other.requests;
      slots += other.slots;
    }
    if (own.turn) place.estimate = *own.turn * slots;
    ++own.requests;
    own.slots += entry.pools.size();
  }
  return places;
}

void send_queue_notices(State& state, Time now) {
  if (!std::exchange(state.has_queue_changed, false)) return;
  for (const QueuePlace& place : queue_places(state, now)) {
    Entry& entry = *state.find(place.entry->request.id);
    if (!entry.client || entry.told_place == place.place) continue;
    entry.told_place = place.place;
    state.outbox.send(TellWaiting{*entry.client, entry.request.id, place.place, place.estimate});
  }
}

}  // namespace ferry::farm
