// Checks whether two kernels compute the same results from the same inputs, before they are measured.
#pragma once

#include <string>
#include <vector>

#include "host/kernel/retry.h"
#include "host/measure/compare.h"

namespace ferry::bench {

struct ComparedResults {
  std::vector<verify::OutputComparison> outputs;
  std::vector<std::string> inputs;    // "x: i16 from -32768 to 32767"
  std::vector<std::string> warnings;  // why the comparison says little
};

// Runs both once, in a session of their own, and A again with other inputs. Throws OptionError (same_results) when they
// cannot be called with the same arguments.
ComparedResults compare_results(const OpenSession& open, const KernelPair& kernels, const CompareOptions& options,
                                const Observer& observer);

}  // namespace ferry::bench
