// The common end of the C++ examples: prints the loops of a schedule, whether they compute the program's results, and
// their time beside serial loops and ferry's default schedule.
#pragma once

#include "ferry/lang/math.h"
#include "ferry/lang/program.h"
#include "ferry/schedule/schedule.h"

#include <cstdint>
#include <vector>

namespace ferry::example {

// Runs on FERRY_REMOTE's server, or else on a local one, with random inputs of these shapes. Returns the exit code for
// main(): 1 if a result is wrong.
int show(const lang::Program& program, const schedule::Schedule& schedule,
         const std::vector<std::vector<std::int64_t>>& inputs);

}  // namespace ferry::example
