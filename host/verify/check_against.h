// Compares the results of a kernel with those of another kernel that should compute the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ferry/verify/findings.h"
#include "host/kernel/compile_kernel.h"
#include "host/verify/definition.h"
#include "host/verify/kernel_outputs.h"

namespace ferry::verify {

// The kernel and the other one, which is absent if no file is given. A C kernel without a signature is called with that
// of the other.
struct CheckedPair {
  KernelSource source;
  std::optional<KernelSource> against;
};
CheckedPair read_checked_pair(const Compiler* compiler, const KernelOptions& kernel, const std::string& against,
                              const Observer& observer = {});

struct RanKernel {
  const FunctionInfo& info;
  const CallPlan& plan;
  Outputs outputs;
};

// Runs the other kernel on the same device with the same inputs.
std::vector<OutputComparison> compare_on_device(const Device& device, const KernelSource& against, const Target& target,
                                                const RanKernel& ran, const CallOptions& call,
                                                const DifferenceLimits& limits, const Observer& observer = {});
// Runs a reference that has no definition on the same device. Returns nothing for one that has.
std::vector<OutputComparison> compare_with_reference(const Device& device, const KernelSource& against,
                                                     const Target& target, const RanKernel& ran,
                                                     const CallOptions& call, const DifferenceLimits& limits,
                                                     const Observer& observer = {});
// Evaluates the definitions on this machine: then only differences that rounding explains are allowed. `controls` are
// those of the reference, or null.
std::vector<CheckResult> check_definitions(const std::vector<Definition>& definitions, const RanKernel& ran,
                                           const ControlOutputs* controls, const CheckLimits& limits = {},
                                           const Observer& observer = {});

}  // namespace ferry::verify
