// The conditions on a program's sizes that are known before it runs: the check of a call refuses negative dimensions.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <vector>

namespace ferry::schedule {

// Returns conditions on the program's sizes that hold in every call: dimensions of inputs and of results are
// non-negative. The most informative conditions, those on single variables, come first.
std::vector<Expr> size_conditions(const Stages& stages);

}  // namespace ferry::schedule
