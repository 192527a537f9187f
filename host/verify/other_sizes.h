// Calls of a kernel with sizes that nobody has named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/kernel/call_plan.h"

namespace ferry::verify {

struct CallOfOtherSizes {
  std::string sizes;  // "M=1,N=1,K=1"
  CallPlan plan;
};

// Returns calls with all sizes 1, primes, one beside powers of two, and one less and one more than they are. Leaves out
// those that the function refuses, and all of a function without sizes or with inputs from files. Inputs are drawn as
// those of the plan.
std::vector<CallOfOtherSizes> calls_of_other_sizes(const FunctionInfo& info, const CallPlan& plan, std::uint64_t seed);

}  // namespace ferry::verify
