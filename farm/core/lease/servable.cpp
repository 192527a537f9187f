#include "farm/core/lease/servable.h"

#include <algorithm>

#include "base/format.h"
#include "base/quantity_text.h"
#include "farm/core/lease/lease_life.h"

namespace ferry::farm {
namespace {

std::string why_no_board(const State& state, const Pool& pool) {
  if (!pool.boards.is_empty()) return "all boards that match " + to_text(pool.selector) + " are bad or retired";
  std::vector<const BoardDescription*> boards;
  for (std::uint32_t index = 0; index < state.boards.size(); ++index)
    if (state.boards.pool().contains(index)) boards.push_back(&state.boards.at(index).record.description);
  return explain_no_match(pool.selector, boards);
}

std::size_t count_placed(const State& state, const Entry& entry, const Units& units) {
  Matching matching(units);
  std::size_t placed = 0;
  for (const auto& pool : entry.pools) {
    if (matching.place(matching.add({&pool->boards, &state.boards.pool()}))) ++placed;
  }
  return placed;
}

// As if every board had a machine to itself.
Units single_units(std::uint32_t boards) {
  Units units;
  for (std::uint32_t board = 0; board < boards; ++board) {
    units.unit_of.push_back(board);
    units.boards_of.push_back({board});
  }
  return units;
}

// Names boards of one machine that the request asks for: "b1 and b2"; empty if there are none.
std::string boards_of_one_machine(const State& state, const Entry& entry) {
  constexpr std::size_t kMostNames = 4;
  BoardSet asked;
  for (const auto& pool : entry.pools) asked.add(pool->boards);
  std::vector<std::string> names;
  visit_common(asked, state.boards.on_shared_machines(), [&](std::uint32_t index) {
    names.clear();
    for (const std::uint32_t board : state.boards.unit_of(state.boards.at(index)))
      if (asked.contains(board) && state.boards.pool().contains(board) && names.size() < kMostNames)
        names.push_back(state.boards.at(board).record.description.name);
    return names.size() > 1;
  });
  return names.size() > 1 ? join(" and ", names) : std::string();
}

}  // namespace

std::optional<std::string> why_unservable(const State& state, const Entry& entry) {
  for (const auto& pool : entry.pools)
    if (!pool->boards.intersects(state.boards.pool())) return why_no_board(state, *pool);
  if (entry.pools.size() == 1) return std::nullopt;
  const std::size_t placed = count_placed(state, entry, state.boards.units());
  if (placed == entry.pools.size()) return std::nullopt;
  std::vector<std::string> texts;
  for (const auto& pool : entry.pools) texts.push_back("'" + to_text(pool->selector) + "'");
  std::string why = format("expected %zu boards that can be used at the same time for ", entry.pools.size()) +
                    join(" and ", texts) + format(", got %zu", placed);
  const bool is_due_to_machines =
      count_placed(state, entry, single_units(static_cast<std::uint32_t>(state.boards.size()))) > placed;
  const std::string sharing = is_due_to_machines ? boards_of_one_machine(state, entry) : std::string();
  if (!sharing.empty()) why += ": " + sharing + " are on one machine, whose boards are leased one at a time";
  return why;
}

void end_unservable(State& state, const Board& board, Time now) {
  std::vector<LeaseId> affected;
  for (const Entry* entry : state.queue) {
    const bool asks_for_it = std::any_of(entry->pools.begin(), entry->pools.end(), [&](const auto& pool) {
      return pool->boards.contains(board.index) || !pool->boards.intersects(state.boards.pool());
    });
    if (asks_for_it) affected.push_back(entry->request.id);
  }
  std::sort(affected.begin(), affected.end());
  for (const LeaseId id : affected) {
    Entry& entry = *state.find(id);
    if (const auto why = why_unservable(state, entry))
      end_request(state, entry, EndReason::no_longer_servable, *why, now);
  }
}

}  // namespace ferry::farm
