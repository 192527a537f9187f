// One kernel's call with the inputs of another's.
#pragma once

#include "host/cli/call_setup.h"
#include "host/verify/same_parameters.h"

namespace ferry::cli {

// `pairs` say which parameter of `a`, called as `plan` says, is which of `b`. Sizes that b takes as numbers follow from
// its tensors. UsageError or RemoteError when b cannot be called with the same tensors.
CallPlan plan_same_call(const FunctionInfo& b, const FunctionInfo& a, const CallPlan& plan,
                        const verify::ParameterPairs& pairs);

// The pairs, or UsageError that starts with `what`.
verify::ParameterPairs expect_same_parameters(const FunctionInfo& a, const FunctionInfo& b, const std::string& what);

}  // namespace ferry::cli
