// Farms of a few boards, for cases that a reader can follow.
#pragma once

#include <chrono>
#include <deque>
#include <initializer_list>
#include <vector>

#include "farm/core/schedule/schedule_round.h"

namespace ferry::test {

inline farm::BoardSet set_of(std::initializer_list<std::uint32_t> boards) {
  farm::BoardSet set;
  for (const std::uint32_t board : boards) set.set(board);
  return set;
}

// Units with one board each.
inline farm::Units separate_units(std::uint32_t boards) {
  farm::Units units;
  for (std::uint32_t board = 0; board < boards; ++board) {
    units.unit_of.push_back(board);
    units.boards_of.push_back({board});
  }
  return units;
}

// A farm at minute 1000 whose boards are all in use until they are made available.
class SmallFarm {
 public:
  explicit SmallFarm(std::uint32_t boards) : SmallFarm(separate_units(boards)) {}
  explicit SmallFarm(farm::Units units)
      : units_(std::move(units)), busy_until_(units_.boards_of.size(), farm::kNever) {}

  static farm::Time minute(int number) { return farm::Time(std::chrono::minutes(number)); }
  farm::Time now() const { return minute(1000); }

  void make_available(std::uint32_t board) { available_.set(board); }
  void in_use_until(std::uint32_t board, int at_minute) {
    returning_.set(board);
    busy_until_[units_.unit_of[board]] = minute(at_minute);
  }

  // Adds a request for one board of each set; each holder is another one unless stated.
  farm::WaitingRequest& ask(std::initializer_list<std::initializer_list<std::uint32_t>> slots, int minutes = 10) {
    farm::WaitingRequest& request = requests_.emplace_back();
    request.id = requests_.size();
    request.holder = static_cast<std::uint32_t>(requests_.size());
    request.submitted = now();
    request.length = std::chrono::minutes(minutes);
    for (const auto& slot : slots) request.slots.push_back({&sets_.emplace_back(set_of(slot)), &available_});
    return request;
  }

  // Returns for each request the boards that it gets now.
  std::vector<std::vector<std::uint32_t>> plan() const {
    std::vector<const farm::WaitingRequest*> requests;
    for (const farm::WaitingRequest& request : requests_) requests.push_back(&request);
    std::vector<std::vector<std::uint32_t>> boards(requests.size());
    for (farm::Start& start : farm::plan_round(requests, {&units_, &returning_, busy_until_}, now()))
      boards[start.request] = std::move(start.boards);
    return boards;
  }

 private:
  farm::Units units_;
  farm::BoardSet available_, returning_;
  std::vector<farm::Time> busy_until_;
  std::deque<farm::BoardSet> sets_;
  std::deque<farm::WaitingRequest> requests_;
};

}  // namespace ferry::test
