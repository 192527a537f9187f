// Finds out whether the calls that were timed did their work: they must leave their inputs as they are, write their
// outputs in every sample, and compute what the call computed that was checked before.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ferry/bench/timed_checks.h"
#include "ferry/client.h"
#include "host/verify/kernel_outputs.h"

namespace ferry::bench {

struct TimedResults {
  std::string mistake = {};    // "x, which it only reads, has changed"; empty: none was found
  std::string unchecked = {};  // why nothing was looked at; empty: something was
};

// Adds to the options what makes the device look at the outputs of each sample.
void look_at_outputs(const FunctionInfo& info, const SecretSeed& secret, BenchOptions& options);

class TimedResultsCheck {
 public:
  // To be made before the calls: all arguments of these are tensors of the device or numbers.
  TimedResultsCheck(const FunctionInfo& info, const std::vector<Argument>& arguments);

  // To be called after them. `expected` has the results of one call, in row-major order, or is null.
  TimedResults finish(const Timing& timing, const verify::Outputs* expected) const;

  // Returns "y[3] 0.7 against 0 (2 of 5 elements differ)" for the first output that differs from that of the other,
  // whose parameters are the second ones of the pairs; empty if none does, or if the server is too old to tell.
  std::string difference_from(const TimedResultsCheck& other, const verify::ParameterPairs& pairs,
                              const verify::DifferenceLimits& limits, const verify::Outputs* expected) const;

 private:
  std::string unexpected(const verify::Outputs& expected) const;

  const FunctionInfo& info_;
  std::vector<DeviceTensor> tensors_;        // one for each parameter; empty for numbers
  std::vector<std::optional<Hash>> hashes_;  // those of the inputs, before
};

// Returns "notify: in a process of its own, timed from outside", or why there is none.
std::string isolation_text(const Timing& timing);
// Returns "each of the 40 samples wrote its outputs", and for samples of several calls what that leaves open.
std::string looked_at_text(const Timing& timing);
// Returns "16 of the calls, drawn afterwards, are as defined in all 4,096 elements; ..."; empty if nothing was held
// against a definition.
std::string checked_text(const TimedChecks& checks);

}  // namespace ferry::bench
