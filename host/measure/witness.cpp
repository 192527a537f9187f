#include "host/measure/witness.h"

#include <algorithm>
#include <utility>

#include "ferry/error.h"
#include "host/client/contents.h"
#include "host/measure/timed_results.h"
#include "host/verify/called_definition.h"
#include "host/verify/check_outputs.h"
#include "host/verify/probe_inputs.h"
#include "module/fresh_inputs.h"

namespace ferry::bench {

namespace {

bool is_taken(const Timing& timing, std::size_t witness) {
  return witness == 0 ? timing.witnessed : (timing.more_witnessed >> (witness - 1) & 1) != 0;
}

std::vector<Argument> like(const Device& device, const FunctionInfo& info, const std::vector<Argument>& arguments) {
  std::vector<Argument> made;
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    const DeviceTensor* const tensor = tensor_of(arguments[p]);
    const bool is_own = tensor != nullptr && !info.parameters[p].is_constant;
    made.push_back(is_own ? Argument(device.empty(tensor->dtype(), tensor->shape())) : arguments[p]);
  }
  return made;
}

}  // namespace

Witnesses::Witnesses(const Device& device, const FunctionInfo& info, const CallPlan& plan,
                     const std::vector<Argument>& arguments, std::size_t most)
    : info_(info), plan_(plan) {
  for (std::size_t p = 0; p < arguments.size(); ++p)
    if (may_get_fresh_contents(info.parameters[p]) && !verify::is_free_input(info, plan, p)) return;
  const std::uint64_t bytes = dense_bytes(arguments);
  if (bytes == 0 || bytes > device.facts().memory_limit_bytes / kMemoryShare) return;
  const std::uint64_t all = std::min(device.facts().memory_limit_bytes / kMemoryShare, kMostMoved);
  const std::uint64_t count = std::clamp<std::uint64_t>(all / bytes, 1, most);
  for (std::uint64_t i = 0; i < count; ++i) arguments_.push_back(like(device, info, arguments));
}

std::string Witnesses::mistake(const Timing& timing, const std::vector<verify::Definition>& definitions,
                               const verify::CheckLimits& limits, const verify::CheckEffort& effort,
                               TimedChecks& checked) const {
  if (definitions.empty() || arguments_.empty() || dense_bytes(arguments_.front()) > kMostMoved) return {};
  const verify::CheckEffort each = effort.divided_by(arguments_.size());
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    if (!is_taken(timing, i)) continue;
    CallPlan called = plan_;
    for (std::size_t p = 0; p < info_.parameters.size(); ++p)
      if (may_get_fresh_contents(info_.parameters[p]))
        verify::set_contents(called, p, read_contents(*tensor_of(arguments_[i][p])));
    const verify::Outputs outputs = read_outputs(info_, arguments_[i]);
    ++checked.calls;
    for (const verify::Definition& definition : definitions) {
      // Contents that are drawn from random numbers are as random.
      const lang::RoundingBound bound = verify::bound_of(definition.info, verify::plan_of(definition, info_, plan_));
      const CallPlan plan = verify::plan_of(definition, info_, called);
      const verify::CalledDefinition defined(definition, plan, bound);
      try {
        for (const verify::CheckResult& result :
             verify::check_outputs(defined, definition.info, verify::in_order_of(definition, outputs), limits, each)) {
          if (result.wrong > 0) return "in one of them, " + result.first_wrong;
          checked.compared += result.compared;
          checked.elements += result.elements;
        }
      } catch (const CompileError&) {
        // Not defined for these inputs.
      }
    }
  }
  return {};
}

std::string Witnesses::difference_from(const Timing& timing, const Witnesses& other, const Timing& other_timing,
                                       const verify::ParameterPairs& pairs, const verify::DifferenceLimits& limits,
                                       const verify::Outputs* expected, std::uint64_t& compared) const {
  for (std::size_t i = 0; i < std::min(arguments_.size(), other.arguments_.size()); ++i) {
    if (!is_taken(timing, i) || !is_taken(other_timing, i)) continue;
    const std::vector<Argument>&mine = arguments_[i], &theirs = other.arguments_[i];
    const bool have_same_inputs = std::ranges::all_of(pairs, [&](const auto& pair) {
      const DeviceTensor* const tensor = tensor_of(mine[pair.first]);
      if (tensor == nullptr || info_.parameters[pair.first].direction != Direction::in) return true;
      return session::digest_of(*tensor) == session::digest_of(*tensor_of(theirs[pair.second]));
    });
    if (!have_same_inputs) continue;
    ++compared;
    const TimedResultsCheck my_results(info_, mine), their_results(other.info_, theirs);
    if (std::string difference = my_results.difference_from(their_results, pairs, limits, expected);
        !difference.empty())
      return difference;
  }
  return {};
}

}  // namespace ferry::bench
