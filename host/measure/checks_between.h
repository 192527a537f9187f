// Calls with inputs that show more than random ones do, between those that are timed: a kernel cannot compute one thing
// in checks and another one when it is timed.
#pragma once

#include <string>
#include <vector>

#include "ferry/bench/timed_checks.h"
#include "ferry/client.h"
#include "host/verify/probe_calls.h"

namespace ferry::bench {

class ChecksBetween {
 public:
  ChecksBetween() = default;
  // Makes tensors for these calls. `arguments` are those of the timed call, whose constants all calls have.
  ChecksBetween(const Device& device, const Function& function, const std::vector<Argument>& arguments,
                std::vector<verify::ProbeCall> calls);

  // For TimedCall::checks.
  const std::vector<std::vector<Argument>>& arguments() const { return arguments_; }

  // After the measurement: holds those that ran against the definitions, with the effort for all of them, and adds what
  // they say. Returns "between them,
  // with equal rows: y[3] is 0, expected 0.7"; empty if nothing is wrong.
  std::string mistake(const FunctionInfo& info, const Timing& timing,
                      const std::vector<verify::Definition>& definitions, const verify::CheckLimits& limits,
                      const verify::CheckEffort& effort, TimedChecks& checked) const;

 private:
  std::vector<verify::ProbeCall> calls_;
  std::vector<std::vector<Argument>> arguments_;
};

// Returns calls for ChecksBetween, whose inputs follow from the seed, and whose tensors take at most so many bytes;
// none where the definitions say nothing.
std::vector<verify::ProbeCall> calls_between(const FunctionInfo& info, const CallPlan& plan,
                                             const std::vector<verify::Definition>& definitions,
                                             const verify::CheckLimits& limits, bool thorough, const SecretSeed& seed,
                                             std::uint64_t most_bytes);

}  // namespace ferry::bench
