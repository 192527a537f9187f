#include "host/tune/network/measured_layouts.h"

#include "base/unix_time.h"
#include "host/stats/summary.h"
#include "host/tune/network/network_task.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/task/device_key.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>

namespace ferry::tune {

namespace {

constexpr char kBlocked = '1', kPlain = '0';

// Conversions have the names of their tensors and this, and perhaps the size of the blocks.
bool is_conversion(const std::string& node) { return node.find(" to NCHW") != std::string::npos; }

double cost_of(const NetworkLayouts::Group& group, char layout) {
  return layout == kBlocked ? group.blocked : group.plain;
}

// Returns the estimate of all conversions with these layouts.
double conversions_with(const NetworkLayouts& layouts, const std::string& chosen) {
  const auto layout_of = [&](std::size_t group) { return group < chosen.size() ? chosen[group] : kPlain; };
  double cost = 0;
  for (const NetworkLayouts::Conversion& one : layouts.conversions)
    if (layout_of(one.one) != layout_of(one.other)) cost += one.cost;
  return cost;
}

double conversions_in(const NodeTimes& times) {
  double seconds = 0;
  for (const auto& [node, time] : times)
    if (is_conversion(node)) seconds += time;
  return seconds;
}

double seconds_of(const std::vector<StepTime>& steps) {
  double seconds = 0;
  for (const StepTime& step : steps)
    if (!step.seconds.empty()) seconds += stats::median(step.seconds);
  return seconds;
}

// Returns the least that the steps of each node took in a call: what else runs on the device only adds to it.
NodeTimes node_times(const std::vector<std::vector<StepTime>>& calls) {
  NodeTimes least;
  for (const std::vector<StepTime>& steps : calls) {
    NodeTimes call;
    for (const StepTime& step : steps)
      if (!step.seconds.empty()) call[step.node] += std::ranges::min(step.seconds);
    for (const auto& [node, seconds] : call) {
      const auto [known, is_new] = least.emplace(node, seconds);
      if (!is_new) known->second = std::min(known->second, seconds);
    }
  }
  return least;
}

// Returns the least seconds that all steps of a call took with each module in a session, as medians over sessions.
std::array<double, 2> network_seconds(const std::vector<SessionSteps>& sessions) {
  std::array<std::vector<double>, 2> seconds;
  for (const SessionSteps& session : sessions)
    for (const std::size_t side : {0, 1}) {
      std::vector<double> calls;
      for (const std::vector<StepTime>& steps : session[side]) calls.push_back(seconds_of(steps));
      seconds[side].push_back(std::ranges::min(calls));
    }
  return {stats::median(seconds[0]), stats::median(seconds[1])};
}

}  // namespace

std::string layouts_to_measure(const NetworkLayouts& layouts, const std::vector<NetworkProgram>& kernels) {
  std::set<std::string> winograd;
  for (const NetworkProgram& kernel : kernels)
    if (kernel.algorithm.starts_with("winograd")) winograd.insert(kernel.nodes.begin(), kernel.nodes.end());
  std::string other = layouts.question.by_default;
  for (std::size_t g = 0; g < layouts.groups.size(); ++g) {
    const NetworkLayouts::Group& group = layouts.groups[g];
    const auto [least, most] = std::minmax(group.plain, group.blocked);
    if (group.may_be_blocked && most <= kMostOverBest * least && !winograd.contains(group.node))
      other[g] = other[g] == kBlocked ? kPlain : kBlocked;
  }
  return other;
}

NetworkLayouts with_measured_costs(NetworkLayouts layouts, const std::string& other, const NodeTimes& by_default,
                                   const NodeTimes& with_other) {
  const std::string& chosen = layouts.question.by_default;
  double measured = 0, estimated = 0;
  for (std::size_t g = 0; g < layouts.groups.size(); ++g)
    if (const auto time = by_default.find(layouts.groups[g].node); time != by_default.end()) {
      measured += time->second;
      estimated += cost_of(layouts.groups[g], chosen[g]);
    }
  const double unit = estimated > 0 ? measured / estimated : 1;
  const double conversions = conversions_with(layouts, chosen) + conversions_with(layouts, other);
  const double converted = conversions_in(by_default) + conversions_in(with_other);
  const double conversion_unit = conversions > 0 && converted > 0 ? converted / conversions : unit;
  for (NetworkLayouts::Conversion& conversion : layouts.conversions) conversion.cost *= conversion_unit;
  for (std::size_t g = 0; g < layouts.groups.size(); ++g) {
    NetworkLayouts::Group& group = layouts.groups[g];
    const double estimate = cost_of(group, chosen[g]);
    const auto time = by_default.find(group.node), other_time = with_other.find(group.node);
    const double scale = time != by_default.end() && estimate > 0 ? time->second / estimate : unit;
    group.plain *= scale;
    group.blocked *= scale;
    if (time != by_default.end() && other_time != with_other.end() && other[g] != chosen[g])
      (other[g] == kBlocked ? group.blocked : group.plain) = other_time->second;
  }
  return layouts;
}

std::optional<MeasuredLayouts> measure_layouts(const InNetwork& in_network, const Observer& observer) {
  const Network& network = *in_network.network.source.as_network()->network;
  const NetworkProfile& profile = in_network.profile;
  const NetworkLayouts layouts = network.layouts({.target = profile.target, .sizes = profile.sizes});
  const std::string other = layouts_to_measure(layouts, profile.kernels);
  MeasuredLayouts result{layouts.question.key, layouts.question.by_default, layouts.question.by_default};
  for (std::size_t g = 0; g < other.size(); ++g) result.groups += other[g] != result.by_default[g] ? 1 : 0;
  if (result.groups == 0) return std::nullopt;
  const StepGuard step = observer.begin("running the network with other layouts");
  const auto with = [&](const std::string& chosen) {
    return compile_with(in_network,
                        std::make_shared<const ChosenSchedules>(ChosenPoints(), ChosenLayouts{result.key, chosen}),
                        observer);
  };
  const CompiledModule by_default = compile_with(in_network, nullptr, observer), changed = with(other);
  const std::vector<SessionSteps> once = call_in_turns(in_network, {&by_default, &changed}, 1, observer);
  if (once.empty()) return std::nullopt;
  result.default_seconds = network_seconds(once)[0];
  result.chosen =
      network.least_cost_layouts(with_measured_costs(layouts, other, node_times(once[0][0]), node_times(once[0][1])));
  if (result.chosen == result.by_default) return result;
  const CompiledModule chosen = with(result.chosen);
  const std::vector<SessionSteps> sessions =
      call_in_turns(in_network, {&by_default, &chosen}, kLeastSessions, observer);
  if (sessions.empty()) return std::nullopt;
  const auto [default_seconds, seconds] = network_seconds(sessions);
  result.default_seconds = default_seconds;
  result.share_in_network = seconds / default_seconds;
  result.is_used = result.share_in_network < 1 - kLeastGain;
  return result;
}

std::size_t MeasuredLayouts::changed() const {
  std::size_t count = 0;
  for (std::size_t g = 0; g < chosen.size(); ++g) count += chosen[g] != by_default[g] ? 1 : 0;
  return count;
}

TuneRecord record_of(const MeasuredLayouts& layouts, const InNetwork& in_network, const std::string& function) {
  const KernelSource& source = in_network.network.source;
  const auto time = [](double seconds) { return MeasuredTime{seconds, seconds, seconds}; };
  TuneRecord record;
  record.key = {layouts.key, std::nullopt, device_key(in_network.profile.target, in_network.options.threads)};
  record.function = function;
  record.sizes = in_network.profile.sizes;
  for (const auto& [name, size] : record.sizes) record.fixed.push_back(name);
  record.device = in_network.device.name;
  record.algorithm = kLayouts;
  record.point = std::to_string(layouts.changed()) + " of " + std::to_string(layouts.chosen.size()) +
                 " groups have other layouts\n";
  record.values = {layouts.chosen};
  record.default_time = time(layouts.default_seconds);
  record.time = time(layouts.default_seconds * layouts.share_in_network);
  record.confirmed = true;
  record.version = version_of(*source.compiler, in_network.profile.target);
  set_place(record, place_in(source.as_network()->network->network_identity()));
  record.unix_ms = unix_milliseconds();
  return record;
}

}  // namespace ferry::tune
