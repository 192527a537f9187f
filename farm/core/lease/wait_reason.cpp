#include "farm/core/lease/wait_reason.h"

#include <ctime>
#include <vector>

#include "base/format.h"
#include "base/quantity_text.h"

namespace ferry::farm {
namespace {

constexpr std::size_t kMostNames = 4;

std::string clock_text(Time time) {
  const auto seconds = static_cast<std::time_t>(time.time_since_epoch().count() / 1000);
  std::tm fields{};
  gmtime_r(&seconds, &fields);
  return format("%02d:%02d:%02d UTC", fields.tm_hour, fields.tm_min, fields.tm_sec);
}

// Why this board cannot be handed out; empty: it is away.
std::string hindrance(const Board& board) {
  if (!board.connected) return {};
  switch (board.record.state) {
    case BoardState::unknown: return "is being checked, since it has started and was not checked yet";
    case BoardState::suspect: return "is being checked again, since it has failed a check";
    case BoardState::maintenance: return "is maintained";
    case BoardState::bad: return "is bad";
    case BoardState::retired: return "is retired";
    case BoardState::good: break;
  }
  return board.is_hot ? "is too hot" : "does not answer";
}

std::string away_text(const Board& board) {
  return board.record.description.name + (board.left_at ? " since " + clock_text(*board.left_at) : std::string());
}

// Describes some of `count` boards.
std::string list(std::vector<std::string> some, std::size_t count) {
  if (count > some.size()) some.push_back(format("%zu more", count - some.size()));
  return join(", ", some);
}

std::string reason_of(const State& state, const Pool& pool) {
  std::vector<std::string> away, others;
  std::size_t away_count = 0, other_count = 0;
  visit_common(pool.boards, state.boards.pool(), [&](std::uint32_t index) {
    const Board& board = state.boards.at(index);
    const std::string why = hindrance(board);
    if (why.empty() && ++away_count <= kMostNames) away.push_back(away_text(board));
    if (!why.empty() && ++other_count <= kMostNames) others.push_back(board.record.description.name + " " + why);
    return false;
  });
  if (other_count == 0) {
    const std::string boards = away_count == 1   ? "the board that fits is"
                               : away_count == 2 ? "both boards that fit are"
                                                 : format("all %zu boards that fit are", away_count);
    return boards + " not connected (" + list(std::move(away), away_count) + ")";
  }
  if (away_count == 0) return list(std::move(others), other_count);
  return list(std::move(others), other_count) + "; not connected: " + list(std::move(away), away_count);
}

}  // namespace

std::string wait_reason(const State& state, const Entry& entry) {
  for (const auto& pool : entry.pools) {
    if (pool->boards.intersects(state.boards.available()) || pool->boards.intersects(state.boards.returning()))
      continue;
    if (entry.request.is_health_check || !pool->boards.intersects(state.boards.pool())) continue;
    return (entry.pools.size() > 1 ? "for '" + to_text(pool->selector) + "' " : "") + reason_of(state, *pool);
  }
  return {};
}

}  // namespace ferry::farm
