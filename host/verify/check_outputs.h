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
#include "host/verify/called_definition.h"
#include "host/verify/kernel_outputs.h"
#include "module/manifest.h"

namespace ferry::verify {

// Limit of loop iterations in the reference, about a second; beyond it only a sample of elements is compared.
inline constexpr double kWorkLimit = 5e6;
// The compiled definition may take so long for all elements of a call's outputs.
inline constexpr double kNativeSeconds = 0.3;

// How much of each output is compared.
struct CheckEffort {
  double work_limit = kWorkLimit;
  double native_seconds = kNativeSeconds;
  std::uint64_t least_sample = 1000;  // elements, whatever their work

  // Returns this much of the work for one of `count` calls, of whose elements at least so many are compared.
  static CheckEffort share(double count, std::uint64_t least_sample) {
    return {.work_limit = kWorkLimit / count, .native_seconds = kNativeSeconds / count, .least_sample = least_sample};
  }
  // The same for each of so many calls.
  CheckEffort divided_by(std::size_t count) const {
    CheckEffort each = *this;
    each.work_limit /= static_cast<double>(count > 0 ? count : 1);
    each.native_seconds /= static_cast<double>(count > 0 ? count : 1);
    return each;
  }
  // Where the definition computes NaN, the kernel has to. Otherwise, of inputs whose terms overflow, that may come of
  // an infinity that another way to compute the same does not have.
  bool knows_nan = true;
};

// `outputs` has the bytes of each parameter that the call wrote, in row-major order, empty for the others. Throws
// CompileError if the definition cannot be evaluated.
std::vector<CheckResult> check_outputs(const lang::Program& program, const FunctionInfo& function, const CallPlan& plan,
                                       const std::vector<std::vector<std::uint8_t>>& outputs,
                                       const CheckLimits& limits = {});

// Compares all outputs of a program, called as the definition is.
std::vector<CheckResult> check_outputs(const CalledDefinition& definition, const FunctionInfo& function,
                                       const std::vector<std::vector<std::uint8_t>>& outputs, const CheckLimits& limits,
                                       const CheckEffort& effort = {}, const ControlOutputs* controls = nullptr);

// How an output is compared.
struct OutputCheck {
  CheckEffort effort = {};
  // Evaluates the output if it is computed by an algorithm with other rounding errors, which are allowed too. What the
  // algorithm makes NaN may be NaN.
  const lang::Reference* algorithm = nullptr;
  // Number of channels of an output in blocks, [N, blocks, H, W, lanes]; lanes past them may hold anything. 0: the
  // output has no blocks.
  std::int64_t channels = 0;
  std::string name = {};  // in sentences; empty: that of the parameter
  // The output's bytes as ferry's own kernel computes them, with all bits of the inputs and with fewer; null: unknown.
  const std::vector<std::uint8_t>*own = nullptr, *rounded = nullptr;
  // All elements of the output as the compiled definition computes them; null: unknown. Then all elements are compared
  // with these, and the reference evaluates a smaller sample, and those that differ by more than is allowed.
  const NativeOutput* native = nullptr;
};

// Compares one output of a program, called as the reference is. Floats of which the reference says that they are exact
// (RoundingBound::exact) must be equal. Throws as above.
CheckResult check_output(const lang::Reference& reference, std::size_t parameter, const ParameterInfo& info,
                         const std::vector<std::uint8_t>& bytes, const CheckLimits& limits,
                         const OutputCheck& how = {});

}  // namespace ferry::verify
