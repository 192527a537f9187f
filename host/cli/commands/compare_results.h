// Checks whether two kernels compute the same results from the same inputs, for `ferry compare` before it measures.
#pragma once

#include <vector>

#include "host/cli/commands/compare_process.h"
#include "host/verify/output_comparison.h"

namespace ferry::cli {

// Runs both once, in a session of their own. Throws UsageError when they cannot be called with the same arguments.
std::vector<verify::OutputComparison> compare_results(const CompareSetup& setup,
                                                      const verify::DifferenceLimits& limits);

}  // namespace ferry::cli
