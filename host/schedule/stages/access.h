// The accesses of a stage's values, by which schedules are chosen.
#pragma once

#include "crosscompile/analysis/access_stride.h"
#include "crosscompile/analysis/loads.h"

namespace ferry::schedule {

using analysis::loads_of;
using analysis::Step;
using analysis::step_of;

}  // namespace ferry::schedule
