// Plans calls with inputs that show more than the random ones of a usual call do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/stats/random.h"
#include "host/verify/check_outputs.h"
#include "host/verify/definition.h"
#include "host/verify/probe_inputs.h"

namespace ferry::verify {

struct ProbeCall {
  std::string inputs;  // as of Probe
  CallPlan plan;
  lang::RoundingBound bound = lang::RoundingBound::exact;
  bool knows_nan = true;   // as of CheckEffort
  std::string sizes = {};  // as of Probe
};

// Inputs of floats that nobody has described. Those of `varying` are no constants of the function either.
std::vector<std::size_t> free_floats(const FunctionInfo& info, const CallPlan& plan);
std::vector<std::size_t> varying_floats(const FunctionInfo& info, const CallPlan& plan);

// All must outlive this object.
class ProbePlanner {
 public:
  ProbePlanner(const FunctionInfo& info, const CallPlan& plan, const std::vector<Definition>& definitions,
               std::uint64_t seed)
      : info_(info), plan_(plan), definitions_(definitions), random_(seed) {}

  // Returns a call in which this one of the inputs has many bits and the others are -1, 0 and 1, so that all sums are
  // exact; nothing if the results are not exact all the same.
  std::optional<ProbeCall> exact_sums(const std::vector<std::size_t>& inputs, std::size_t wide);
  // Returns nothing if the set changes no input.
  std::optional<ProbeCall> adversarial(AdversarialSet set);
  // Whether the definitions can be evaluated: indices that the inputs determine may lead outside of tensors.
  bool is_defined(const CallPlan& changed);
  stats::Random& random() { return random_; }

 private:
  bool is_exact(const CallPlan& changed);

  const FunctionInfo& info_;
  const CallPlan& plan_;
  const std::vector<Definition>& definitions_;
  stats::Random random_;
};

// Bytes of all tensors of a call.
std::uint64_t tensor_bytes(const CallPlan& plan);

// The largest of these inputs, which probes of exact sums give many bits.
std::vector<std::size_t> widest(const CallPlan& plan, std::vector<std::size_t> inputs);

// Returns such calls in random order: with exact sums, unless limits are given or another algorithm is allowed, and, if
// `thorough`, with adversarial inputs. They change inputs of floats that are no constants, and so nothing that is a
// position in a tensor. All tensors of all calls take at most so many bytes.
std::vector<ProbeCall> probe_calls(const FunctionInfo& info, const CallPlan& plan,
                                   const std::vector<Definition>& definitions, const CheckLimits& limits, bool thorough,
                                   std::uint64_t seed, std::uint64_t most_bytes);

// Returns what the definitions say of the outputs of such a call. Throws CompileError if they have no value for its
// inputs.
std::vector<CheckResult> check_probe(const FunctionInfo& info, const std::vector<Definition>& definitions,
                                     const ProbeCall& call, const Outputs& outputs, const CheckLimits& limits,
                                     const CheckEffort& effort);

}  // namespace ferry::verify
