// Describes a function with the sizes of a call.
#pragma once

#include <cstdint>
#include <vector>

#include "ferry/bench/measurement.h"
#include "module/manifest.h"

namespace ferry::bench {

// Takes the values of the function's symbols, in their order.
MeasuredFunction measured_function(const FunctionInfo& info, const std::vector<std::int64_t>& symbols);

// Returns the method of a timing of the function.
Method method_of(const FunctionInfo& info, const Timing& timing, bool is_cold, std::uint64_t seed);

}  // namespace ferry::bench
