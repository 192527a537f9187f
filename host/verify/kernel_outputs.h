// Runs kernels for their outputs, and says whether two of them compute the same from the same inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/kernel/call_plan.h"
#include "host/verify/output_comparison.h"
#include "host/verify/same_parameters.h"

namespace ferry::verify {

// The outputs of a call: the bytes of each parameter that it writes, in row-major order, empty for the others.
using Outputs = std::vector<std::vector<std::uint8_t>>;
// The outputs of two calls of ferry's own kernel, see host/verify/controls.h.
struct ControlOutputs {
  Outputs own, rounded;
};

// Where a call runs: in the session's process, or as one that is measured, in a process of its own where the device has
// isolation (docs/isolation.md). Then a kernel does not see by its process whether it is checked or timed.
enum class CallPlace : std::uint8_t { session, as_measured };

// Runs the function once. Throws KernelFailed if it fails.
Outputs outputs_of_call(const Device& device, const CompiledModule& module, const FunctionInfo& info,
                        const CallPlan& plan, const Observer& observer = {}, CallPlace place = CallPlace::session);

// Compares the outputs of `a`, called as its plan says, with those of `b`, which had the same inputs.
std::vector<OutputComparison> compare_all_outputs(const FunctionInfo& a, const CallPlan& plan, const Outputs& of_a,
                                                  const Outputs& of_b, const ParameterPairs& pairs,
                                                  const DifferenceLimits& limits);

}  // namespace ferry::verify
