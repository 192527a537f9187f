// Tells how long the code of epilogues is.
#pragma once

#include "ferry/target/target.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <string>
#include <vector>

namespace ferry::autoschedule {

// Whether these stages, or inlined stages that they read, compute error functions by ferry's own code, which has more
// coefficients than other functions (crosscompile/passes/lower_math). Copies of it load them each time.
bool has_error_functions(const schedule::Stages& stages, const std::vector<std::string>& epilogues,
                         const Target& target);

}  // namespace ferry::autoschedule
