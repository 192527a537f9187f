// Checks whether two kernels compute the same results from the same inputs, before they are measured.
#pragma once

#include <vector>

#include "host/bench/compare.h"
#include "host/kernel/retry.h"

namespace ferry::bench {

// Runs both once, in a session of their own. Throws OptionError (same_results) when they cannot be called with the same
// arguments.
std::vector<verify::OutputComparison> compare_results(const OpenSession& open, const KernelPair& kernels,
                                                      const CompareOptions& options, const Observer& observer);

}  // namespace ferry::bench
