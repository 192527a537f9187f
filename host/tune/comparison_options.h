// The comparison in the end of tuning.
#pragma once

#include "host/tune/tune.h"

#include <optional>
#include <string>

namespace ferry::tune {

// Returns the options for a comparison of two sides, one call of each of which takes `pair_seconds`, that is to take
// about `seconds`, if that is limited. Calls that take long are sampled less often, and then in fewer processes.
bench::CompareOptions comparison_options(const TuneOptions& options, const CallOptions& call, const std::string& target,
                                         double pair_seconds, std::optional<double> seconds);

}  // namespace ferry::tune
