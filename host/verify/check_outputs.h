// Compares what a call computed with the definition of its program, evaluated on this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/lang/program.h"
#include "ferry/verify/findings.h"
#include "host/kernel/call_plan.h"

namespace ferry::verify {

// `outputs` has the bytes of each parameter that the call wrote, in row-major order, empty for the others. Throws
// CompileError if the definition cannot be evaluated.
std::vector<CheckResult> check_outputs(const lang::Program& program, const FunctionInfo& function, const CallPlan& plan,
                                       const std::vector<std::vector<std::uint8_t>>& outputs,
                                       const CheckLimits& limits = {});

}  // namespace ferry::verify
