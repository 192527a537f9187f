// Checks some of the calls that were timed, with their own inputs: which ones is drawn after they ran. So what a kernel
// computes while it is timed is held against its definition, or against what the other side of a comparison computed
// then.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "ferry/bench/timed_checks.h"
#include "ferry/client.h"
#include "host/kernel/call_plan.h"
#include "host/measure/call_tensors.h"
#include "host/verify/check_outputs.h"
#include "host/verify/definition.h"

namespace ferry::bench {

// Bench draws so many calls, a process of a comparison so many.
inline constexpr std::size_t kBenchWitnesses = 16, kProcessWitnesses = 4;

class Witnesses {
 public:
  // Allocates at most so many sets of tensors like those of the call, as memory allows: none where new inputs would be
  // others than somebody has described.
  Witnesses(const Device& device, const FunctionInfo& info, const CallPlan& plan,
            const std::vector<Argument>& arguments, std::size_t most);

  // For TimedCall::witnesses.
  const std::vector<std::vector<Argument>>& arguments() const { return arguments_; }
  void keep(std::size_t most) { arguments_.resize(std::min(most, arguments_.size())); }

  // After the measurement: holds those that were taken against the definitions, unless they are too large to be read
  // from the device, with the effort for all of them, and adds to what was checked. Returns "in one of them, y[3] is 0,
  // expected 0.7"; empty if nothing is wrong.
  std::string mistake(const Timing& timing, const std::vector<verify::Definition>& definitions,
                      const verify::CheckLimits& limits, const verify::CheckEffort& effort, TimedChecks& checked) const;
  // Compares those that were taken of both and had the same inputs. Returns how results differ, as TimedResultsCheck
  // does, and adds to the number of compared ones.
  std::string difference_from(const Timing& timing, const Witnesses& other, const Timing& other_timing,
                              const verify::ParameterPairs& pairs, const verify::DifferenceLimits& limits,
                              const verify::Outputs* expected, std::uint64_t& compared) const;

 private:
  const FunctionInfo& info_;
  const CallPlan& plan_;
  std::vector<std::vector<Argument>> arguments_;
};

}  // namespace ferry::bench
