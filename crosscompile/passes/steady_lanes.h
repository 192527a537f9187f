// The lanes of a vectorized loop between those at its ends that are a border: the first and last places of a row of an
// image with padding, say.
#pragma once

#include "crosscompile/passes/guards.h"
#include "crosscompile/target/target.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ferry::passes {

struct SteadyLanes {
  std::int64_t begin = 0, end = 0;  // from the loop's first lane on
  Outcomes outcomes;                // of the guards that are decided there
};

// Nothing when no guard of the loop's body is decided at fixed lanes, or what lies between is not most of the loop or
// not a whole vector.
std::optional<SteadyLanes> find_steady_lanes(const ir::For& loop, const std::vector<Guard>& guards,
                                             Knowledge& knowledge, const Target& target);

}  // namespace ferry::passes
