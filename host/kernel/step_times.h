// The times of a function's steps, for people.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ferry/client.h"

namespace ferry {

// Adds to the steps of a call with these sizes what they compute, if the module says so and no step was left out, and
// the names of their devices, if the module has several.
void describe_step_times(const CompiledModule& module, std::span<const std::int64_t> symbols,
                         std::vector<StepTime>& steps);

}  // namespace ferry
