// What the examples in C++ end with: the loops that a schedule makes, whether they compute what the program says, and
// their time beside serial loops and ferry's own schedule.
#pragma once

#include "host/lang/math.h"
#include "host/lang/program.h"
#include "host/schedule/schedule.h"

#include <cstdint>
#include <vector>

namespace ferry::example {

// Runs on FERRY_REMOTE's server, or one of its own on this machine, with random inputs of these shapes. What main()
// returns: 1 when a result is wrong.
int show(const lang::Program& program, const schedule::Schedule& schedule,
         const std::vector<std::vector<std::int64_t>>& inputs);

}  // namespace ferry::example
