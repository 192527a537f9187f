#include "host/tune/runner/trial_session.h"

#include "host/verify/element_text.h"

#include <algorithm>
#include <utility>

namespace ferry::tune {

namespace {

// Contents of outputs before a trial.
constexpr std::uint64_t kPoisonSeed = 0x9e3779b97f4a7c15;

bool is_written(const ParameterInfo& parameter) {
  return parameter.kind == ParameterKind::tensor && parameter.direction != Direction::in;
}

const DeviceTensor& tensor_of(const Argument& argument) { return std::get<DeviceTensor>(argument.value()); }

}  // namespace

std::size_t sets_in_turns(std::uint64_t set_bytes, std::uint64_t cache_bytes) {
  constexpr std::uint64_t kMost = 8;  // calls that a device measures in turns
  if (set_bytes == 0 || set_bytes >= cache_bytes) return 1;
  const std::uint64_t sets = (cache_bytes + set_bytes - 1) / set_bytes + 1;
  return sets <= kMost ? static_cast<std::size_t>(sets) : 1;
}

TrialSession::TrialSession(Device device, const RunnerTask& task) : device_(std::move(device)), task_(task) {
  const std::uint64_t bytes = traffic_bytes(task_.info, task_.plan.shapes);
  for (std::size_t sets = sets_in_turns(bytes, task_.cache_bytes); sets > 0; --sets)
    inputs_.push_back(make_arguments(task_.info, task_.plan, device_));
  for (const Arguments& inputs : inputs_) arguments_.push_back(with_own_results(inputs));
}

TrialSession::Arguments TrialSession::with_own_results(const Arguments& inputs) const {
  Arguments all;
  auto next = inputs.begin();
  for (std::size_t p = 0; p < task_.info.parameters.size(); ++p) {
    const ParameterInfo& parameter = task_.info.parameters[p];
    if (is_written(parameter) && parameter.direction == Direction::out) {
      all.push_back(device_.filled(task_.plan.dtypes[p], task_.plan.shapes[p], FillKind::random, kPoisonSeed));
      continue;
    }
    const Argument& input = *next++;
    all.push_back(is_written(parameter) ? Argument(tensor_of(input).copy_to(device_)) : input);
  }
  return all;
}

void TrialSession::poison() const {
  for (std::size_t set = 0; set < arguments_.size(); ++set) {
    auto input = inputs_[set].begin();
    for (std::size_t p = 0; p < task_.info.parameters.size(); ++p) {
      const ParameterInfo& parameter = task_.info.parameters[p];
      const bool is_output = is_written(parameter) && parameter.direction == Direction::out;
      // Only what the first set computes is compared.
      if (is_output && set == 0)
        session::send_fill(tensor_of(arguments_[set][p]), FillKind::random, kPoisonSeed);
      else if (is_written(parameter) && !is_output)
        tensor_of(*input).copy_to(tensor_of(arguments_[set][p]));
      if (!is_output) ++input;
    }
  }
}

Function TrialSession::load(const ModuleBytes& module) const {
  return session::send_function(device_, CompiledModule(module), task_.info.name);
}

double TrialSession::call_default(const Function& code) {
  const Arguments arguments = with_own_results(inputs_.front());
  const double seconds = session::send_call(code, arguments).seconds();
  results_.clear();
  for (std::size_t p = 0; p < arguments.size(); ++p)
    if (is_written(task_.info.parameters[p])) results_.push_back(tensor_of(arguments[p]));
  return seconds;
}

ResultLimits TrialSession::limits(ResultLimits known) const {
  for (std::size_t r = known.size(); r < results_.size(); ++r) {
    std::vector<std::uint8_t> bytes(results_[r].bytes());
    results_[r].read(bytes.data());
    known.push_back(verify::applied_limits(results_[r].dtype(), bytes, bytes, {}));
  }
  return known;
}

session::PendingCall TrialSession::send_call(const Function& code) const {
  poison();
  return session::send_call(code, arguments_.front());
}

std::vector<session::PendingDifference> TrialSession::send_comparisons(const ResultLimits& limits) const {
  std::vector<session::PendingDifference> pending;
  for (std::size_t p = 0; p < task_.info.parameters.size(); ++p) {
    if (!is_written(task_.info.parameters[p])) continue;
    const std::size_t r = pending.size();
    const auto& [rtol, atol] = limits[r];
    pending.push_back(session::send_comparison(tensor_of(arguments_.front()[p]), results_[r], rtol, atol));
  }
  return pending;
}

std::string TrialSession::difference(std::vector<session::PendingDifference>& pending) const {
  std::string text;
  auto next = pending.begin();
  for (std::size_t p = 0; p < task_.info.parameters.size(); ++p) {
    const ParameterInfo& parameter = task_.info.parameters[p];
    if (!is_written(parameter)) continue;
    const auto differs = (next++)->get();
    if (!text.empty() || !differs || differs->different == 0) continue;
    const DeviceTensor& found = tensor_of(arguments_.front()[p]);
    text = verify::position_text(parameter.name, found.shape(), differs->first) +
           " differs from what the default schedule computes, as do " + std::to_string(differs->different) + " of " +
           std::to_string(found.elements()) + " elements";
  }
  return text;
}

session::PendingTimings TrialSession::send_measurement(const Function& code, const BenchOptions& options) const {
  BenchOptions bench = options;
  if (arguments_.size() > 1) {
    // A sample of several calls would find what its first one has read. As many samples are taken as of one set.
    bench.min_repeat_ms = 0;
    bench.repeat = std::max(2U, bench.repeat / static_cast<std::uint32_t>(arguments_.size()));
  }
  bench.cores = task_.cores;
  bench.threads = task_.threads;
  std::vector<TimedCall> calls;
  for (const Arguments& arguments : arguments_) calls.push_back({.function = code, .arguments = arguments});
  return session::send_measurement(calls, bench);
}

}  // namespace ferry::tune
