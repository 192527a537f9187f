// Time as the farm's scheduler counts it.
#pragma once

#include <chrono>

namespace ferry::farm {

// The clock of the store, which all trackers of a farm share. Nothing here reads it; every function is told the time.
struct StoreClock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<StoreClock>;
  static constexpr bool is_steady = true;
};

using Duration = StoreClock::duration;
using Time = StoreClock::time_point;

}  // namespace ferry::farm
