#include "host/farm/lease/servable.h"

#include <algorithm>

#include "base/format.h"
#include "base/quantity_text.h"
#include "host/farm/lease/lease_life.h"

namespace ferry::farm {
namespace {

std::string why_no_board(const State& state, const Pool& pool) {
  if (!pool.boards.is_empty()) return "all boards that match " + to_text(pool.selector) + " are bad or retired";
  std::vector<const BoardDescription*> boards;
  for (std::uint32_t index = 0; index < state.boards.size(); ++index)
    if (state.boards.pool().contains(index)) boards.push_back(&state.boards.at(index).record.description);
  return explain_no_match(pool.selector, boards);
}

}  // namespace

std::optional<std::string> why_unservable(const State& state, const Entry& entry) {
  for (const auto& pool : entry.pools)
    if (!pool->boards.intersects(state.boards.pool())) return why_no_board(state, *pool);
  if (entry.pools.size() == 1) return std::nullopt;
  Matching matching(state.boards.units());
  std::size_t placed = 0;
  for (const auto& pool : entry.pools) {
    if (matching.place(matching.add({&pool->boards, &state.boards.pool()}))) ++placed;
  }
  if (placed == entry.pools.size()) return std::nullopt;
  std::vector<std::string> texts;
  for (const auto& pool : entry.pools) texts.push_back("'" + to_text(pool->selector) + "'");
  return format("expected %zu boards that can be used at the same time for ", entry.pools.size()) +
         join(" and ", texts) + format(", got %zu", placed);
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
