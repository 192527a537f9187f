// The places of waiting requests, and how long they will probably wait.
#pragma once

#include <optional>
#include <vector>

#include "farm/core/lease/state.h"

namespace ferry::farm {

struct QueuePlace {
  const Entry* entry = nullptr;
  std::size_t place = 0;             // from 1, among the requests that compete for the same boards
  std::optional<Duration> estimate;  // nothing: no lease of these boards has ended yet
};

// In the scheduling order.
std::vector<QueuePlace> queue_places(State& state, Time now);

}  // namespace ferry::farm
