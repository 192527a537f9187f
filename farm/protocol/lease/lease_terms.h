// What a farm's tracker and a board say to each other about a lease.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/fields.h"

namespace ferry::lease {

// The board's CLOCK_BOOTTIME. A lease's end is stated in it, so that no two clocks are ever compared.
struct BootClock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
};
using BootTime = BootClock::time_point;

// Fencing token of a board: each lease of it has a greater one than all before.
using Epoch = std::uint64_t;

// Names a lease on one board. A lease of several boards has an epoch for each.
struct LeaseKey {
  std::uint64_t lease = 0;
  Epoch epoch = 0;

  bool operator==(const LeaseKey&) const = default;

  FERRY_FIELDS((lease), (epoch));
};

struct Announcement {
  LeaseKey key;
  std::uint32_t extension = 0;  // number of times that the lease was extended
  BootTime end;
};

}  // namespace ferry::lease
