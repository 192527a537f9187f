#include "farm/core/schedule/matching.h"

#include <bit>

namespace ferry::farm {

Matching::Matching(const Units& units)
    : units_(units),
      occupant_(units.boards_of.size(), kNone),
      search_of_(units.boards_of.size(), 0),
      reached_from_(units.boards_of.size()),
      reached_by_(units.boards_of.size()) {}

Matching::Slot Matching::add(const SlotBoards& boards) {
  slots_.push_back({boards, kNone, false});
  return static_cast<Slot>(slots_.size() - 1);
}

bool Matching::place(Slot slot, bool may_take_held) {
  if (slots_[slot].board != kNone) return true;
  if (const std::uint32_t board = free_board(slots_[slot].boards); board != kNone) {
    occupy(board, slot);
    return true;
  }
  // Breadth-first, so that as few slots as possible move.
  ++search_;
  std::vector<Slot> frontier{slot};
  for (std::size_t next = 0; next < frontier.size(); ++next) {
    const Slot from = frontier[next];
    std::uint32_t last = kNone;
    const auto reach = [&](std::uint32_t board) {
      const std::uint32_t unit = units_.unit_of[board];
      if (search_of_[unit] == search_) return false;
      search_of_[unit] = search_;
      reached_from_[unit] = from;
      reached_by_[unit] = board;
      const Slot occupant = occupant_[unit];
      if (occupant == kNone || (may_take_held && slots_[occupant].is_held)) {
        last = unit;
        return true;
      }
      frontier.push_back(occupant);
      return false;
    };
    const SlotBoards& boards = slots_[from].boards;
    const std::uint32_t free = free_board(boards);
    if (free != kNone ? reach(free) : visit_common(*boards.eligible, *boards.available, reach)) {
      shift_along_path(slot, last);
      return true;
    }
  }
  return false;
}

void Matching::shift_along_path(Slot start, std::uint32_t unit) {
  if (occupant_[unit] != kNone) vacate(occupant_[unit]);
  while (true) {
    const Slot slot = reached_from_[unit];
    const std::uint32_t before = slots_[slot].board;
    if (before != kNone) vacate(slot);
    occupy(reached_by_[unit], slot);
    if (slot == start) return;
    unit = units_.unit_of[before];
  }
}

void Matching::vacate(Slot slot) {
  const std::uint32_t board = slots_[slot].board;
  if (board == kNone) return;
  const std::uint32_t unit = units_.unit_of[board];
  slots_[slot].board = kNone;
  occupant_[unit] = kNone;
  --occupied_;
  for (const std::uint32_t other : units_.boards_of[unit]) taken_.set(other, false);
}

void Matching::occupy(std::uint32_t board, Slot slot) {
  const std::uint32_t unit = units_.unit_of[board];
  slots_[slot].board = board;
  occupant_[unit] = slot;
  ++occupied_;
  for (const std::uint32_t other : units_.boards_of[unit]) taken_.set(other);
}

std::uint32_t Matching::free_board(const SlotBoards& boards) const {
  const std::size_t count = std::min(boards.eligible->word_count(), boards.available->word_count());
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = boards.eligible->word(i) & boards.available->word(i) & ~taken_.word(i);
    if (bits != 0) return static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(bits)));
  }
  return kNone;
}

std::optional<std::uint32_t> Matching::board_of(Slot slot) const {
  if (slots_[slot].board == kNone) return std::nullopt;
  return slots_[slot].board;
}

std::optional<Matching::Slot> Matching::slot_in(std::uint32_t unit) const {
  if (occupant_[unit] == kNone) return std::nullopt;
  return occupant_[unit];
}

}  // namespace ferry::farm
