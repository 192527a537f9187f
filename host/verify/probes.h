// Checks a kernel with inputs, and with sizes, that show more than the random ones of a usual call do.
#pragma once

#include <cstdint>
#include <vector>

#include "ferry/kernel/observer.h"
#include "ferry/verify/findings.h"
#include "host/verify/comparison_warnings.h"
#include "host/verify/definition.h"

namespace ferry::verify {

struct ProbeOptions {
  CheckLimits limits = {};
  std::uint64_t seed = 0;
  // Adversarial inputs and other sizes too, which a kernel may be right to refuse that was written for a purpose.
  bool thorough = false;
  CallPlace place = CallPlace::session;  // where calls on the device run
};

// Calls the kernel again with inputs of which all sums are exact: one of its inputs after the other, the two largest at
// most, has many bits, the others are -1, 0 and 1. There are none for definitions whose results are not exact then,
// such as quotients, nor where limits are given or another algorithm is allowed, whose stated error counts. It ends
// after the first probe in which the kernel fails, which the session may not have survived.
std::vector<Probe> run_probes(const FunctionInfo& info, const CallPlan& plan,
                              const std::vector<Definition>& definitions, const ProbeOptions& options,
                              const CallAgain& call, const Observer& observer = {});
// The same of calls on the device. If a probe has failed, the session may have ended.
std::vector<Probe> run_probes(const Device& device, const CompiledModule& module, const FunctionInfo& info,
                              const CallPlan& plan, const std::vector<Definition>& definitions,
                              const ProbeOptions& options, const Observer& observer = {});

bool has_failed(const std::vector<Probe>& probes);

}  // namespace ferry::verify
