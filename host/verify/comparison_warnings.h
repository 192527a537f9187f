// Says when a comparison of results shows little: because all elements are the same, or because an input does not
// matter.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/verify/kernel_outputs.h"

namespace ferry::verify {

// Returns "every element of y is 0: ..." for each output of several elements that are all the same.
std::vector<std::string> constant_outputs(const FunctionInfo& info, const CallPlan& plan, const Outputs& outputs);

// Makes the call of a plan again. Throws KernelFailed, as the first call would.
using CallAgain = std::function<Outputs(const CallPlan& plan)>;

// Returns these warnings of a call that has been made. Calls again with other random numbers in one input after the
// other, and says "the result did not change when x changed: ..." of those after which all outputs are what they were.
// Inputs whose contents a user has given stay as they are. It ends early when that has taken some seconds. The kernel
// may fail with other inputs; that is a warning too.
std::vector<std::string> comparison_warnings(const FunctionInfo& info, const CallPlan& plan, const Outputs& outputs,
                                             const CallAgain& call);
// The same of a call on the device. It comes last in a session, which ends where the kernel fails.
std::vector<std::string> comparison_warnings(const Device& device, const CompiledModule& module,
                                             const FunctionInfo& info, const CallPlan& plan, const Outputs& outputs,
                                             const Observer& observer = {}, CallPlace place = CallPlace::session);

}  // namespace ferry::verify
