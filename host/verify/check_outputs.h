// Compares what a call computed with the definition of its program, evaluated on this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/lang/program.h"
#include "host/kernel/call_plan.h"

namespace ferry::verify {

// Allowed errors. An element is right if it differs from the expected value by no more than atol + rtol * |expected|,
// and, if neither is given, by no more than four times the rounding error of the element's own terms in addition.
struct CheckLimits {
  std::optional<double> rtol, atol;  // nothing: by the output's type
};

// One output of the call.
struct CheckResult {
  std::string output;
  std::uint64_t compared = 0, elements = 0;  // a seeded sample is compared where the evaluation of all would take long
  double largest_absolute = 0, largest_relative = 0;
  double rtol = 0, atol = 0;                // the limits that were applied
  bool with_rounding = false;               // rounding errors of the element's terms are allowed too
  std::uint64_t wrong = 0;                  // of those compared
  std::uint64_t nan = 0, nan_expected = 0;  // NaNs among those compared: computed, and by the definition
  std::string first_wrong;                  // "C[3,4] is 1.5, expected 1.25"; empty if there is none
};

// `outputs` has the bytes of each parameter that the call wrote, in row-major order, empty for the others. Throws
// CompileError if the definition cannot be evaluated.
std::vector<CheckResult> check_outputs(const lang::Program& program, const FunctionInfo& function, const CallPlan& plan,
                                       const std::vector<std::vector<std::uint8_t>>& outputs,
                                       const CheckLimits& limits = {});

}  // namespace ferry::verify
