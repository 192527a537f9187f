#include "host/measure/witness.h"

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

// A witness takes at most this part of the device's memory, and so many bytes are read from the device.
constexpr std::uint64_t kMemoryShare = 16, kMostRead = 16 << 20;
constexpr verify::CheckEffort kEffort{.work_limit = verify::kWorkLimit / 8, .least_sample = 200};

}  // namespace

Witness::Witness(const Device& device, const FunctionInfo& info, const CallPlan& plan,
                 const std::vector<Argument>& arguments)
    : info_(info), plan_(plan) {
  std::uint64_t bytes = 0;
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    if (may_get_fresh_contents(info.parameters[p]) && !verify::is_free_input(info, plan, p)) return;
    const auto* tensor = std::get_if<DeviceTensor>(&arguments[p].value());
    if (tensor != nullptr && !tensor->strides().empty()) return;
    bytes += tensor != nullptr ? tensor->bytes() : 0;
  }
  if (bytes > device.facts().memory_limit_bytes / kMemoryShare) return;
  std::vector<Argument> like;
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    const auto* tensor = std::get_if<DeviceTensor>(&arguments[p].value());
    const bool is_own = tensor != nullptr && !info.parameters[p].is_constant;
    like.push_back(is_own ? Argument(device.empty(tensor->dtype(), tensor->shape())) : arguments[p]);
  }
  arguments_ = std::move(like);
}

const DeviceTensor* Witness::tensor(std::size_t parameter) const {
  return std::get_if<DeviceTensor>(&arguments_[parameter].value());
}

std::string Witness::mistake(const Timing& timing, const std::vector<verify::Definition>& definitions,
                             const verify::CheckLimits& limits) const {
  if (!timing.witnessed || definitions.empty()) return {};
  std::uint64_t bytes = 0;
  for (std::size_t p = 0; p < arguments_.size(); ++p) bytes += tensor(p) != nullptr ? tensor(p)->bytes() : 0;
  if (bytes > kMostRead) return {};
  CallPlan called = plan_;
  verify::Outputs outputs(arguments_.size());
  for (std::size_t p = 0; p < arguments_.size(); ++p) {
    const bool is_output = info_.parameters[p].direction != Direction::in;
    if (tensor(p) == nullptr || (!is_output && !may_get_fresh_contents(info_.parameters[p]))) continue;
    std::vector<std::uint8_t> contents(tensor(p)->bytes());
    tensor(p)->read(contents.data());
    if (is_output) {
      outputs[p] = std::move(contents);
    } else {
      verify::set_contents(called, p, std::move(contents));
    }
  }
  for (const verify::Definition& definition : definitions) {
    // Contents that are drawn from random numbers are as random.
    const lang::RoundingBound bound = verify::bound_of(definition.info, verify::plan_of(definition, info_, plan_));
    const CallPlan plan = verify::plan_of(definition, info_, called);
    const verify::CalledDefinition defined(definition.program, definition.info, plan, bound, definition.native.get());
    try {
      for (const verify::CheckResult& result :
           verify::check_outputs(defined, definition.info, verify::in_order_of(definition, outputs), limits, kEffort))
        if (result.wrong > 0) return "in one of them, " + result.first_wrong;
    } catch (const CompileError&) {
      // Not defined for these inputs.
    }
  }
  return {};
}

std::string Witness::difference_from(const Witness& other, const verify::ParameterPairs& pairs,
                                     const verify::DifferenceLimits& limits, const verify::Outputs* expected) const {
  for (const auto& [p, q] : pairs) {
    const bool is_input = tensor(p) != nullptr && info_.parameters[p].direction == Direction::in;
    if (is_input && session::digest_of(*tensor(p)) != session::digest_of(*other.tensor(q))) return {};
  }
  const TimedResultsCheck mine(info_, arguments_), theirs(other.info_, other.arguments_);
  return mine.difference_from(theirs, pairs, limits, expected);
}

}  // namespace ferry::bench
