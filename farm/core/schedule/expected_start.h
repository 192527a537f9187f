// When a request for several boards can start at the latest, if the leases in use run to their ends.
#pragma once

#include <functional>
#include <span>

#include "farm/core/schedule/matching.h"
#include "farm/core/schedule/schedule_round.h"

namespace ferry::farm {

// `held` are the boards that the request already has for some of its slots. `free_at` returns when a board that is
// eligible for a slot becomes free, kNever if that is not known. Returns kNever if the slots cannot all get boards.
Time expected_start(std::span<const SlotBoards> slots, std::span<const std::uint32_t> held, const Units& units,
                    const std::function<Time(std::uint32_t board)>& free_at);

}  // namespace ferry::farm
