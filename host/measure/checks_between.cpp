#include "host/measure/checks_between.h"

#include <algorithm>
#include <utility>

#include "ferry/error.h"
#include "host/measure/call_tensors.h"

namespace ferry::bench {

namespace {

// No process of a comparison has this seed.
constexpr std::uint64_t kSeedOfContents = ~std::uint64_t{0};

}  // namespace

std::vector<verify::ProbeCall> calls_between(const FunctionInfo& info, const CallPlan& plan,
                                             const std::vector<verify::Definition>& definitions,
                                             const verify::CheckLimits& limits, bool thorough, const SecretSeed& seed,
                                             std::uint64_t most_bytes) {
  const auto is_strided = [](const Shape& strides) { return !strides.empty(); };
  if (std::ranges::any_of(plan.strides, is_strided)) return {};
  return verify::probe_calls(info, plan, definitions, limits, thorough, derived_seed(seed, kSeedOfContents).low,
                             most_bytes);
}

ChecksBetween::ChecksBetween(const Device& device, const Function& function, const std::vector<Argument>& arguments,
                             std::vector<verify::ProbeCall> calls)
    : calls_(std::move(calls)) {
  const FunctionInfo& info = function.info();
  for (const verify::ProbeCall& call : calls_) {
    std::vector<Argument> inputs;
    for (std::size_t p = 0; p < info.parameters.size(); ++p) {
      const ParameterInfo& parameter = info.parameters[p];
      if (parameter.direction == Direction::out) continue;
      inputs.push_back(parameter.is_constant ? arguments[p] : make_argument(info, call.plan, p, device));
    }
    arguments_.push_back(function.on_device(inputs));
  }
}

std::string ChecksBetween::mistake(const FunctionInfo& info, const Timing& timing,
                                   const std::vector<verify::Definition>& definitions,
                                   const verify::CheckLimits& limits, const verify::CheckEffort& effort,
                                   TimedChecks& checked) const {
  const verify::CheckEffort each = effort.divided_by(calls_.size());
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if ((timing.checked >> i & 1) == 0) continue;
    verify::Probe probe{calls_[i].inputs};
    try {
      probe.checks = verify::check_probe(info, definitions, calls_[i], read_outputs(info, arguments_[i]), limits, each);
    } catch (const CompileError&) {
      continue;  // not defined for these inputs
    }
    checked.between.push_back(std::move(probe));
    if (std::string mistake = checked.between.back().mistake(); !mistake.empty()) return "between them, " + mistake;
  }
  return {};
}

}  // namespace ferry::bench
