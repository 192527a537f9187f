// Decides which waiting requests start now: a pure function of the requests, the boards and the time.
//
// Requests are considered by effective priority, then by their holders' used share, then by age. Each gets boards for
// all its slots or none. The first request for several boards that cannot start yet collects: the boards that it could
// already get are held for it, unless it is unknown when it will get the others. Others may use these meanwhile only if
// their leases end before its expected start (backfilling), or if they belong to the same holder, who does not wait
// behind himself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "farm/core/schedule/board_set.h"
#include "farm/core/schedule/clock.h"
#include "farm/core/schedule/matching.h"

namespace ferry::farm {

// The effective priority rises by 1 in this time, so that every request is the first at some time.
inline constexpr Duration kPriorityStep = std::chrono::minutes(1);

struct WaitingRequest {
  std::uint32_t priority = 0;  // as requested
  double share = 0;            // used by the holder, over his weight
  Time submitted;
  std::uint64_t id = 0;      // decides between requests that are equal otherwise
  std::uint32_t holder = 0;  // equal for requests of the same holder
  Duration length{};         // the lease's
  std::vector<SlotBoards> slots;
};

// Returns the positions of the requests in the order in which they are considered.
std::vector<std::size_t> scheduling_order(std::span<const WaitingRequest* const> requests, Time now);

inline constexpr Time kNever = Time::max();

struct Supply {
  const Units* units = nullptr;
  const BoardSet* returning = nullptr;  // boards in use that will be available when their lease ends
  std::span<const Time> busy_until;     // for each unit that is in use, when its leases end
};

struct Start {
  std::size_t request = 0;            // its position among the requests
  std::vector<std::uint32_t> boards;  // one for each slot
};

// The requests may be in any order.
std::vector<Start> plan_round(std::span<const WaitingRequest* const> requests, const Supply& supply, Time now);

}  // namespace ferry::farm
