// Checks one of the calls that were timed, with its own inputs: no kernel knows which it will be. So what it computes
// while it is timed is held against its definition, or against what the other side of a comparison computed then.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ferry/client.h"
#include "host/kernel/call_plan.h"
#include "host/verify/definition.h"

namespace ferry::bench {

class Witness {
 public:
  // Allocates tensors like those of the call. There is no witness where new inputs would be others than somebody has
  // described, or without the memory for it.
  Witness(const Device& device, const FunctionInfo& info, const CallPlan& plan, const std::vector<Argument>& arguments);

  // For TimedCall::witness; empty: there is none.
  const std::vector<Argument>& arguments() const { return arguments_; }

  // After the measurement: returns "in one of them, y[3] is 0, expected 0.7"; empty if nothing is wrong, if it has not
  // been taken, or if its tensors are too large to be read from the device.
  std::string mistake(const Timing& timing, const std::vector<verify::Definition>& definitions,
                      const verify::CheckLimits& limits) const;
  // If both were taken and had the same inputs, returns as TimedResultsCheck does how their results differ.
  std::string difference_from(const Witness& other, const verify::ParameterPairs& pairs,
                              const verify::DifferenceLimits& limits, const verify::Outputs* expected) const;

 private:
  const DeviceTensor* tensor(std::size_t parameter) const;

  const FunctionInfo& info_;
  const CallPlan& plan_;
  std::vector<Argument> arguments_;
};

}  // namespace ferry::bench
