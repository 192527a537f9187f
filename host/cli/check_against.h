// --check-against: what one kernel computed, held against another kernel that should compute the same.
#pragma once

#include <vector>

#include "host/cli/check.h"
#include "host/cli/compare_results.h"
#include "host/cli/kernel.h"

namespace ferry::cli {

void add_check_against_option(CLI::App& command, std::string& file);

// The kernel and the other one, which is nothing without a file. Where one in C has no signature, it is called as the
// other is.
struct CheckedPair {
  KernelSource source;
  std::optional<KernelSource> against;
};
CheckedPair read_checked_pair(const KernelOptions& kernel, const std::string& against);

struct RanKernel {
  const FunctionInfo& info;
  const CallPlan& plan;
  Outputs outputs;
};

// The other kernel runs on the same device with the same inputs.
std::vector<verify::OutputComparison> compare_on_device(const Device& device, const KernelSource& against,
                                                        const Target& target, const RanKernel& ran,
                                                        const CallOptions& call,
                                                        const verify::DifferenceLimits& limits);
// The other kernel has a definition, which is computed here: that allows for no more than rounding explains.
std::vector<CheckResult> check_against_definition(const KernelSource& against, const RanKernel& ran,
                                                  const CheckOptions& options);

// "check y: all 100 elements as mm.so computes them, largest difference 1e-06; allowed ...: fine"
std::string to_text(const verify::OutputComparison& output, const std::string& against);

}  // namespace ferry::cli
