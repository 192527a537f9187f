// Plans a kernel's call with the inputs of another's.
#pragma once

#include "host/kernel/call_plan.h"
#include "host/verify/same_parameters.h"

namespace ferry::verify {

// `pairs` maps the parameters of `a`, called as `plan` says, to those of `b`. Sizes that `b` takes as numbers follow
// from its tensors. Throws Error when `b` cannot be called with the same tensors.
CallPlan plan_same_call(const FunctionInfo& b, const FunctionInfo& a, const CallPlan& plan,
                        const ParameterPairs& pairs);

// Returns the pairs, or throws UsageError whose message starts with `what`.
ParameterPairs expect_same_parameters(const FunctionInfo& a, const FunctionInfo& b, const std::string& what);

}  // namespace ferry::verify
