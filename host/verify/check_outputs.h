// Compares what a call computed with the definition of its program, evaluated on this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ferry/lang/program.h"
#include "ferry/verify/findings.h"
#include "host/kernel/call_plan.h"
#include "host/lang/reference/reference.h"
#include "module/manifest.h"

namespace ferry::verify {

// `outputs` has the bytes of each parameter that the call wrote, in row-major order, empty for the others. Throws
// CompileError if the definition cannot be evaluated.
std::vector<CheckResult> check_outputs(const lang::Program& program, const FunctionInfo& function, const CallPlan& plan,
                                       const std::vector<std::vector<std::uint8_t>>& outputs,
                                       const CheckLimits& limits = {});

// Limit of loop iterations in the reference, about a second; beyond it only a sample is compared.
inline constexpr double kWorkLimit = 5e6;

// Compares one output of a program, called as the reference is. If the output is computed by an algorithm with other
// rounding errors, `algorithm` evaluates it, and these are allowed too. Throws as above.
CheckResult check_output(const lang::Reference& reference, std::size_t parameter, const ParameterInfo& info,
                         const std::vector<std::uint8_t>& bytes, const CheckLimits& limits,
                         double work_limit = kWorkLimit, const lang::Reference* algorithm = nullptr);

}  // namespace ferry::verify
