// Finds the lanes of a vectorized loop between the border lanes at its ends, such as the first and last elements of a
// row of an image with padding.
#pragma once

#include "crosscompile/passes/loops/guards.h"
#include "ferry/target/target.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ferry::passes {

struct SteadyLanes {
  std::int64_t begin = 0, end = 0;  // relative to the loop's first lane
  Outcomes outcomes;                // for the guards that are decided in these lanes
};

// Returns nothing when no guard of the loop's body is decided at fixed lanes, or the steady lanes are not most of the
// loop or not a whole vector.
std::optional<SteadyLanes> find_steady_lanes(const ir::For& loop, const std::vector<Guard>& guards,
                                             Assumptions& assumptions, const Target& target);

}  // namespace ferry::passes
