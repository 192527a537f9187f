// Matches the slots of requests to boards by augmenting paths: a slot that finds all its boards taken may move others
// to boards that suit them as well. Boards of one machine exclude each other, so a slot occupies a whole unit: a
// machine, or a board that has its machine to itself.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "farm/core/schedule/board_set.h"

namespace ferry::farm {

// Which boards belong together, by index.
struct Units {
  std::vector<std::uint32_t> unit_of;                 // by board
  std::vector<std::vector<std::uint32_t>> boards_of;  // by unit
};

// The boards that a slot may get: those in both sets, which must outlive the matching.
struct SlotBoards {
  const BoardSet* eligible = nullptr;
  const BoardSet* available = nullptr;
};

class Matching {
 public:
  using Slot = std::uint32_t;

  // `units` must outlive the matching.
  explicit Matching(const Units& units);

  // Adds a slot without a board.
  Slot add(const SlotBoards& boards);
  // Gives the slot a board. All slots that had one keep one, though maybe another; only slots that are marked as held
  // lose theirs if `may_take_held`. Returns false, and changes nothing, if that is impossible.
  bool place(Slot slot, bool may_take_held = false);
  // Takes the slot's board away, if it has one.
  void vacate(Slot slot);
  // Marks a slot whose board is only reserved for later.
  void set_held(Slot slot, bool is_held) { slots_[slot].is_held = is_held; }

  std::optional<std::uint32_t> board_of(Slot slot) const;
  // The slot that occupies this unit.
  std::optional<Slot> slot_in(std::uint32_t unit) const;
  // Number of units that slots occupy.
  std::size_t occupied() const { return occupied_; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct SlotState {
    SlotBoards boards;
    std::uint32_t board = kNone;
    bool is_held = false;
  };

  // Returns a board that the slot may get and whose unit nobody occupies.
  std::uint32_t free_board(const SlotBoards& boards) const;
  void occupy(std::uint32_t board, Slot slot);
  void shift_along_path(Slot start, std::uint32_t unit);

  const Units& units_;
  std::vector<SlotState> slots_;
  std::vector<Slot> occupant_;  // by unit
  BoardSet taken_;              // the boards of occupied units
  std::size_t occupied_ = 0;
  // The slot from which a search reached each unit, and by which of its boards.
  std::vector<std::uint32_t> search_of_;
  std::vector<Slot> reached_from_;
  std::vector<std::uint32_t> reached_by_;
  std::uint32_t search_ = 0;
};

}  // namespace ferry::farm
