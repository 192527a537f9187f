// Says when a comparison of results shows little: because all elements are the same, or because an input does not
// matter.
#pragma once

#include <string>
#include <vector>

#include "host/verify/kernel_outputs.h"

namespace ferry::verify {

// Returns "every element of y is 0: ..." for each output of several elements that are all the same.
std::vector<std::string> constant_outputs(const FunctionInfo& info, const CallPlan& plan, const Outputs& outputs);

// Calls the function again with other random numbers in one input after the other, and returns "the result did not
// change when x changed: ..." for those after which all outputs are what they were. Inputs whose contents a user has
// given stay as they are. It ends early when that has taken some seconds. Throws KernelFailed as the first call does.
std::vector<std::string> unread_inputs(const Device& device, const CompiledModule& module, const FunctionInfo& info,
                                       const CallPlan& plan, const Outputs& outputs, const Observer& observer = {});

// Both, of a call that has been made on the device. It comes last in a session, since the kernel may fail with other
// inputs; that is a warning too.
std::vector<std::string> comparison_warnings(const Device& device, const CompiledModule& module,
                                             const FunctionInfo& info, const CallPlan& plan, const Outputs& outputs,
                                             const Observer& observer = {});

}  // namespace ferry::verify
