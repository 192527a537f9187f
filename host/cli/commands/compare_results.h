// Checks whether two kernels compute the same results from the same inputs, for `ferry compare` before it measures and
// for `ferry run --check-against`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "host/cli/commands/compare_process.h"
#include "host/cli/output/json.h"
#include "host/verify/output_comparison.h"
#include "host/verify/same_parameters.h"

namespace ferry::cli {

// The outputs of a function on this device: the bytes of each parameter that the call writes, empty for the others.
using Outputs = std::vector<std::vector<std::uint8_t>>;
Outputs outputs_of_call(const Device& device, const CompiledModule& module, const FunctionInfo& info,
                        const CallPlan& plan, const Observer& observer);

// Compares the outputs of `a`, called as its plan says, with those of `b`, which had the same inputs.
std::vector<verify::OutputComparison> compare_all_outputs(const FunctionInfo& a, const CallPlan& plan,
                                                          const Outputs& of_a, const Outputs& of_b,
                                                          const verify::ParameterPairs& pairs,
                                                          const verify::DifferenceLimits& limits);

// Runs both once, in a session of their own. Throws UsageError when they cannot be called with the same arguments.
std::vector<verify::OutputComparison> compare_results(const CompareSetup& setup,
                                                      const verify::DifferenceLimits& limits);

// Returns "y[3] 0.7 against 0 (2 of 5 elements differ)" for the first output that differs; empty if none does.
std::string difference_text(const std::vector<verify::OutputComparison>& outputs);
Json comparison_json(const verify::OutputComparison& output);

}  // namespace ferry::cli
