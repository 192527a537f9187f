// Calls with inputs that show more than random ones do, and calls of other sizes, between those that are timed: a
// kernel cannot compute one thing in checks and another one when it is timed.
#pragma once

#include <string>
#include <vector>

#include "ferry/bench/timed_checks.h"
#include "ferry/client.h"
#include "host/measure/measured_side.h"
#include "host/verify/probe_calls.h"

namespace ferry::bench {

class ChecksBetween {
 public:
  ChecksBetween() = default;
  // Makes tensors for these calls. `arguments` are those of the timed call, whose constants all calls have.
  ChecksBetween(const Device& device, const Function& function, const std::vector<Argument>& arguments,
                std::vector<verify::ProbeCall> calls, std::vector<verify::ProbeCall> other_sizes);

  // For TimedCall::checks, and for its other_sizes.
  const std::vector<std::vector<Argument>>& arguments() const { return arguments_; }
  const std::vector<std::vector<Argument>>& other_sizes() const { return other_sizes_; }

  // After the measurement: holds those that ran against the definitions, with the effort for all of them, and adds what
  // they say. Returns "between them,
  // with equal rows: y[3] is 0, expected 0.7"; empty if nothing is wrong.
  std::string mistake(const FunctionInfo& info, const Timing& timing,
                      const std::vector<verify::Definition>& definitions, const verify::CheckLimits& limits,
                      const verify::CheckEffort& effort, TimedChecks& checked) const;

 private:
  std::vector<verify::ProbeCall> calls_;  // those of other sizes last
  std::vector<std::vector<Argument>> arguments_, other_sizes_;
};

// Returns calls for ChecksBetween, whose inputs follow from the seed, and whose tensors take at most so many bytes;
// none where the definitions say nothing.
std::vector<verify::ProbeCall> calls_between(const FunctionInfo& info, const CallPlan& plan,
                                             const std::vector<verify::Definition>& definitions,
                                             const verify::CheckLimits& limits, bool thorough, const SecretSeed& seed,
                                             std::uint64_t most_bytes);
// The same of other sizes, if `thorough`, with random inputs. They have the constants of the call, and so the sizes
// that these determine.
std::vector<verify::ProbeCall> other_sizes_between(const FunctionInfo& info, const CallPlan& plan,
                                                   const std::vector<verify::Definition>& definitions, bool thorough,
                                                   const SecretSeed& seed, std::uint64_t most_bytes);

// Adds what both sides of a comparison are called with between timed calls: such calls of the first one, and the same
// ones of the other, as far as it takes their sizes. `pairs` maps parameters of the first to those of the other.
void add_calls_between(const MeasuredSide& a, SideDefinition& of_a, const MeasuredSide& b, SideDefinition& of_b,
                       const verify::ParameterPairs& pairs, bool thorough, const SecretSeed& seed);

}  // namespace ferry::bench
