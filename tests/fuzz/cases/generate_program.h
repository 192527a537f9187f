// Generates random programs: expressions over all element types; one to four stages that read each other with stencils,
// broadcasts, transposes, strides, quotients by numbers and sizes, and gathers; reductions of every kind; updates;
// sizes from 0 up. Some inputs are smaller than the region read of them, if the case allows it.
#pragma once

#include "tests/fuzz/cases/fuzz_case.h"
#include "tests/fuzz/cases/random.h"

namespace ferry::fuzz {

// Generates everything but the schedule and the target. Nothing is read outside of a tensor unless `may_leave` is set.
FuzzCase generate_program(Random& random);

}  // namespace ferry::fuzz
