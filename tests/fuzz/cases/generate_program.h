// Random programs: expressions over all element types, one to four stages that read each other with stencils,
// broadcasts, transposes, strides, quotients by numbers and sizes and gathers, reductions of every kind, updates, sizes
// from 0 on. Some inputs are smaller than what is read of them, where the case says so.
#pragma once

#include "tests/fuzz/cases/fuzz_case.h"
#include "tests/fuzz/cases/random.h"

namespace ferry::fuzz {

// All but the schedule and the target. Nothing is read outside of a tensor unless `may_leave` is set.
FuzzCase generate_program(Random& random);

}  // namespace ferry::fuzz
