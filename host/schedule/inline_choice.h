// Which stages are better computed where they are used.
#pragma once

#include "host/schedule/stages/scheduled_stage.h"

#include <string>
#include <vector>

namespace ferry::schedule {

// Names of stages that only copy or convert elements, and of those that are read once for each element of their only
// reader: computing them again costs no more than keeping them. Never a result or a reduction, and not so many in a
// chain that its expression would be nested too deeply.
std::vector<std::string> stages_to_inline(const Stages& stages);

}  // namespace ferry::schedule
