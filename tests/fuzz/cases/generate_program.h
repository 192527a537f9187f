// Random programs: expressions over all element types, one to four stages that read each other with stencils,
// broadcasts, transposes, strides, quotients and gathers, reductions of every kind, updates, sizes from 0 on.
#pragma once

#include "tests/fuzz/cases/fuzz_case.h"
#include "tests/fuzz/cases/random.h"

namespace ferry::fuzz {

// All but the schedule and the target. Nothing is read outside of a tensor.
FuzzCase generate_program(Random& random);

}  // namespace ferry::fuzz
