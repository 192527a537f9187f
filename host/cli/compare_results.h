// Whether two kernels compute the same from the same inputs: what `ferry compare` asks before it measures, and
// `ferry run --check-against`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "host/cli/compare_process.h"
#include "host/cli/json.h"
#include "host/verify/output_comparison.h"
#include "host/verify/same_parameters.h"

namespace ferry::cli {

// What a function computes on this device: the bytes of each parameter that the call writes, empty for the others.
using Outputs = std::vector<std::vector<std::uint8_t>>;
Outputs outputs_of_call(const Device& device, const CompiledModule& module, const FunctionInfo& info,
                        const CallPlan& plan);

// Those of `a`, called as its plan says, against those of `b`, which was given the same.
std::vector<verify::OutputComparison> compare_all_outputs(const FunctionInfo& a, const CallPlan& plan,
                                                          const Outputs& of_a, const Outputs& of_b,
                                                          const verify::ParameterPairs& pairs,
                                                          const verify::DifferenceLimits& limits);

// Both once, in a session of their own. UsageError when they cannot be called with the same.
std::vector<verify::OutputComparison> compare_results(const CompareSetup& setup,
                                                      const verify::DifferenceLimits& limits);

// "y[3] 0.7 against 0 (2 of 5 elements differ)" of the first output that differs; empty when none does.
std::string difference_text(const std::vector<verify::OutputComparison>& outputs);
Json comparison_json(const verify::OutputComparison& output);

}  // namespace ferry::cli
