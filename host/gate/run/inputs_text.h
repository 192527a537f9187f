// Says with which inputs a case is called.
#pragma once

#include <string>

#include "ferry/kernel/call_options.h"
#include "host/kernel/call_plan.h"

namespace ferry::gate {

// Returns the options with which 'ferry run' makes the same call: "--arg x=f32[4096]:random --arg a=2 --size n=4096
// --seed 0". Long lists end with "...".
std::string inputs_text(const FunctionInfo& function, const CallPlan& plan, const CallOptions& call);

}  // namespace ferry::gate
