// Lines of 64 bytes that move between the levels of caches, from the footprints of loops.
//
// A loop whose data fits a level brings each line there once. In a loop whose data does not fit, each iteration brings
// what it needs again. The call is not the first one: what fits is there from the start.
#pragma once

#include "crosscompile/cost/core.h"
#include "crosscompile/cost/nest.h"

#include <array>

namespace ferry::cost {

// Lines that come from the next level, or go there.
struct Lines {
  double in_row = 0;  // rows of several lines, which prefetchers find
  double lone = 0;
};

// Returns the lines for each level of caches in a call.
std::array<Lines, 2> lines_of(const FunctionNest& function, const Core& core);

}  // namespace ferry::cost
