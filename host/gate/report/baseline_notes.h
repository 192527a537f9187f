// Says in sentences what a run has found of the baseline, what it has done to it, and how times were taken.
#pragma once

#include <string>
#include <vector>

#include "host/gate/api/report.h"

namespace ferry::gate {

// Returns sentences that say which of its cases the suite lacks, who stored modules that have run, which modules are
// the baseline from now on, and why others are not although the user asked for it; none if nothing changed and nothing
// was asked for. Names in them are as they are in the report.
std::vector<std::string> baseline_notes(const Report& report);

// Returns a sentence for each method by which times were taken.
std::vector<std::string> method_notes(const Report& report);

}  // namespace ferry::gate
