#include "farm/core/schedule/expected_start.h"

#include <algorithm>
#include <utility>

namespace ferry::farm {
namespace {

// Places all slots that have no board yet; returns whether all have one then.
bool place_all(Matching& matching, std::span<const Matching::Slot> slots) {
  bool all = true;
  for (const Matching::Slot slot : slots) all = matching.place(slot) && all;
  return all;
}

}  // namespace

Time expected_start(std::span<const SlotBoards> slots, std::span<const std::uint32_t> held, const Units& units,
                    const std::function<Time(std::uint32_t board)>& free_at) {
  BoardSet available;
  for (const std::uint32_t board : held) available.set(board);
  Matching matching(units);
  std::vector<Matching::Slot> added;
  for (const SlotBoards& slot : slots) added.push_back(matching.add({slot.eligible, &available}));
  place_all(matching, added);

  // A heap, because mostly the first few boards are enough.
  std::vector<std::pair<Time, std::uint32_t>> returns;
  BoardSet eligible;
  for (const SlotBoards& slot : slots) eligible.add(*slot.eligible);
  visit_common(eligible, eligible, [&](std::uint32_t board) {
    if (const Time time = free_at(board); time != kNever) returns.emplace_back(time, board);
    return false;
  });
  std::make_heap(returns.begin(), returns.end(), std::greater<>());
  while (!returns.empty()) {
    std::pop_heap(returns.begin(), returns.end(), std::greater<>());
    const auto [time, board] = returns.back();
    returns.pop_back();
    available.set(board);
    if (place_all(matching, added)) return time;
  }
  return kNever;
}

}  // namespace ferry::farm
