// The calls that were held against the definition of a kernel while it was timed.
#pragma once

#include <cstdint>
#include <vector>

#include "ferry/verify/findings.h"

namespace ferry::bench {

struct TimedChecks {
  // Timed calls that were drawn after they ran, and their elements that were compared, of so many.
  std::uint64_t calls = 0, compared = 0, elements = 0;
  // Calls between the timed ones with inputs that show more than random ones do. They were not timed, and nothing told
  // them apart from those that were.
  std::vector<verify::Probe> between = {};

  void add(const TimedChecks& more);
  // The share of calls, or of elements, of which some would have been among those that were checked in 95 of 100
  // measurements: each of them is missed by all with (1 - share)^number = 0.05. 1 if nothing was checked.
  double seen_share_of_calls() const { return seen_share(calls); }
  double seen_share_of_elements() const { return seen_share(compared); }

 private:
  static double seen_share(std::uint64_t number);
};

}  // namespace ferry::bench
