// --check-against: compares the results of a kernel with those of another kernel that should compute the same.
#pragma once

#include <vector>

#include "host/cli/commands/check.h"
#include "host/cli/commands/compare_results.h"
#include "host/kernel/compile_kernel.h"

namespace ferry::cli {

void add_check_against_option(CLI::App& command, std::string& file);

// The kernel and the other one, which is absent if no file is given. A C kernel without a signature is called with that
// of the other.
struct CheckedPair {
  KernelSource source;
  std::optional<KernelSource> against;
};
CheckedPair read_checked_pair(const KernelOptions& kernel, const std::string& against, const Observer& observer);

struct RanKernel {
  const FunctionInfo& info;
  const CallPlan& plan;
  Outputs outputs;
};

// Runs the other kernel on the same device with the same inputs.
std::vector<verify::OutputComparison> compare_on_device(const Device& device, const KernelSource& against,
                                                        const Target& target, const RanKernel& ran,
                                                        const CallOptions& call, const verify::DifferenceLimits& limits,
                                                        const Observer& observer);
// Evaluates the other kernel's definition on this machine: then only differences that rounding explains are allowed.
std::vector<CheckResult> check_against_definition(const KernelSource& against, const RanKernel& ran,
                                                  const CheckOptions& options);

// "check y: all 100 elements as mm.so computes them, largest difference 1e-06; allowed ...: fine"
std::string to_text(const verify::OutputComparison& output, const std::string& against);

}  // namespace ferry::cli
