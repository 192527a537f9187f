#include "host/measure/checks_between.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ferry/error.h"
#include "host/measure/call_tensors.h"
#include "host/verify/called_definition.h"
#include "host/verify/other_sizes.h"
#include "host/verify/same_call.h"

namespace ferry::bench {

namespace {

// No process of a comparison has these seeds.
constexpr std::uint64_t kSeedOfContents = ~std::uint64_t{0}, kSeedOfSizes = kSeedOfContents - 1;

bool has_strides(const CallPlan& plan) {
  return std::ranges::any_of(plan.strides, [](const Shape& strides) { return !strides.empty(); });
}

// Whether the call has the same constants.
bool has_constants_of(const FunctionInfo& info, const CallPlan& plan, const CallPlan& changed) {
  for (std::size_t p = 0; p < info.parameters.size(); ++p) {
    if (!info.parameters[p].is_constant) continue;
    if (changed.shapes[p] != plan.shapes[p] || changed.contents[p].bytes != plan.contents[p].bytes) return false;
  }
  return true;
}

}  // namespace

std::vector<verify::ProbeCall> calls_between(const FunctionInfo& info, const CallPlan& plan,
                                             const std::vector<verify::Definition>& definitions,
                                             const verify::CheckLimits& limits, bool thorough, const SecretSeed& seed,
                                             std::uint64_t most_bytes) {
  if (has_strides(plan)) return {};
  return verify::probe_calls(info, plan, definitions, limits, thorough, derived_seed(seed, kSeedOfContents).low,
                             most_bytes);
}

std::vector<verify::ProbeCall> other_sizes_between(const FunctionInfo& info, const CallPlan& plan,
                                                   const std::vector<verify::Definition>& definitions, bool thorough,
                                                   const SecretSeed& seed, std::uint64_t most_bytes) {
  std::vector<verify::ProbeCall> calls;
  if (!thorough || definitions.empty() || has_strides(plan)) return calls;
  const std::uint64_t sizes_seed = derived_seed(seed, kSeedOfSizes).low;
  std::uint64_t bytes = 0;
  for (verify::CallOfOtherSizes& other : verify::calls_of_other_sizes(info, plan, sizes_seed)) {
    for (std::size_t p = 0; p < info.parameters.size(); ++p)
      if (info.parameters[p].is_constant) other.plan.contents[p] = plan.contents[p];
    if (!has_constants_of(info, plan, other.plan)) continue;
    if (bytes + verify::tensor_bytes(other.plan) > most_bytes) continue;
    if (!verify::ProbePlanner(info, other.plan, definitions, sizes_seed).is_defined(other.plan)) continue;
    bytes += verify::tensor_bytes(other.plan);
    const lang::RoundingBound bound = verify::bound_of(info, other.plan);
    calls.push_back({"random numbers", std::move(other.plan), bound, true, std::move(other.sizes)});
  }
  return calls;
}

void add_calls_between(const MeasuredSide& a, SideDefinition& of_a, const MeasuredSide& b, SideDefinition& of_b,
                       const verify::ParameterPairs& pairs, bool thorough, const SecretSeed& seed) {
  const auto add = [&](std::vector<verify::ProbeCall> SideDefinition::* list, std::vector<verify::ProbeCall> calls) {
    for (verify::ProbeCall& call : calls) {
      verify::ProbeCall same = call;
      try {
        same.plan = verify::plan_same_call(b.info, a.info, call.plan, pairs);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::invalid_argument) throw;
        continue;
      }
      if (!has_constants_of(b.info, b.plan, same.plan)) continue;
      (of_a.*list).push_back(std::move(call));
      (of_b.*list).push_back(std::move(same));
    }
  };
  add(&SideDefinition::between,
      calls_between(a.info, a.plan, of_a.definitions, of_a.limits, thorough, seed, kMostMoved));
  add(&SideDefinition::other_sizes, other_sizes_between(a.info, a.plan, of_a.definitions, thorough, seed, kMostMoved));
}

ChecksBetween::ChecksBetween(const Device& device, const Function& function, const std::vector<Argument>& arguments,
                             std::vector<verify::ProbeCall> calls, std::vector<verify::ProbeCall> other_sizes)
    : calls_(std::move(calls)) {
  const std::size_t same_sizes = calls_.size();
  std::ranges::move(other_sizes, std::back_inserter(calls_));
  const FunctionInfo& info = function.info();
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const verify::ProbeCall& call = calls_[i];
    std::vector<Argument> inputs;
    for (std::size_t p = 0; p < info.parameters.size(); ++p) {
      const ParameterInfo& parameter = info.parameters[p];
      if (parameter.direction == Direction::out) continue;
      inputs.push_back(parameter.is_constant ? arguments[p] : make_argument(info, call.plan, p, device));
    }
    (i < same_sizes ? arguments_ : other_sizes_).push_back(function.on_device(inputs));
  }
}

std::string ChecksBetween::mistake(const FunctionInfo& info, const Timing& timing,
                                   const std::vector<verify::Definition>& definitions,
                                   const verify::CheckLimits& limits, const verify::CheckEffort& effort,
                                   TimedChecks& checked) const {
  const verify::CheckEffort each = effort.divided_by(calls_.size());
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if ((timing.checked >> i & 1) == 0) continue;
    const std::vector<Argument>& called = i < arguments_.size() ? arguments_[i] : other_sizes_[i - arguments_.size()];
    verify::Probe probe{calls_[i].inputs, calls_[i].sizes};
    try {
      probe.checks = verify::check_probe(info, definitions, calls_[i], read_outputs(info, called), limits, each);
    } catch (const CompileError&) {
      continue;  // not defined for these inputs
    }
    checked.between.push_back(std::move(probe));
    if (std::string mistake = checked.between.back().mistake(); !mistake.empty()) return "between them, " + mistake;
  }
  return {};
}

}  // namespace ferry::bench
