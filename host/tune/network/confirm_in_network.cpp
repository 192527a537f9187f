#include "host/tune/network/confirm_in_network.h"

#include "base/unix_time.h"
#include "host/tune/recorded_schedules.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace ferry::tune {

namespace {

using Clock = std::chrono::steady_clock;
using Until = std::optional<Clock::time_point>;

constexpr int kSessions = 5;
constexpr std::size_t kLeastChances = 2;

// The least that a kernel took in all calls of all sessions: what else runs on the device only adds to it.
struct LeastTimes {
  double by_default = std::numeric_limits<double>::infinity(), tuned = by_default;
  void add(double default_seconds, double tuned_seconds) {
    by_default = std::min(by_default, default_seconds);
    tuned = std::min(tuned, tuned_seconds);
  }
};

class Confirmation {
 public:
  Confirmation(const InNetwork& in_network, const ChosenLayouts& layouts, const Observer& observer, Until until)
      : in_(in_network), layouts_(layouts), observer_(observer), until_(until) {
    default_module_ = compile_with(in_, std::make_shared<const ChosenSchedules>(ChosenPoints(), layouts_), observer_);
  }

  // Returns the times of the kernels in the network with these points.
  std::map<std::string, LeastTimes> times(const ChosenPoints& points) const {
    const auto chosen = std::make_shared<const ChosenSchedules>(points, layouts_);
    const CompiledModule tuned = compile_with(in_, chosen, observer_);
    const std::map<std::string, std::string> names = names_with(*chosen);
    std::map<std::string, LeastTimes> all;
    for (const SessionSteps& session : call_in_turns(in_, {&*default_module_, &tuned}, kSessions, observer_, until_)) {
      std::map<std::string, std::vector<double>> seconds[2];
      for (const std::size_t side : {0, 1})
        for (const std::vector<StepTime>& steps : session[side])
          for (const auto& [kernel, time] : kernel_times(steps)) seconds[side][kernel].push_back(time.seconds);
      for (const auto& [kernel, times] : seconds[0]) {
        const auto name = names.find(kernel);
        const auto found = seconds[1].find(name == names.end() ? kernel : name->second);
        if (found == seconds[1].end()) continue;
        all[kernel].add(std::ranges::min(times), std::ranges::min(found->second));
      }
    }
    return all;
  }

 private:
  // Returns the names of the kernels with these schedules and algorithms, by those that they have by default.
  std::map<std::string, std::string> names_with(const ChosenSchedules& chosen) const {
    const std::vector<NetworkProgram> kernels = in_.network.source.as_network()->network->kernels(
        {.target = in_.profile.target, .sizes = in_.profile.sizes, .tuned = &chosen});
    std::map<std::string, std::string> names;
    for (const NetworkProgram& by_default : in_.profile.kernels) {
      const auto found = std::ranges::find(kernels, by_default.nodes, &NetworkProgram::nodes);
      if (found != kernels.end()) names.emplace(by_default.kernel, found->kernel);
    }
    return names;
  }

  const InNetwork& in_;
  const ChosenLayouts& layouts_;
  const Observer& observer_;
  Until until_;
  std::optional<CompiledModule> default_module_;
};

// Returns the record with its times in the network.
TuneRecord confirmed(TuneRecord record, const LeastTimes& times, const Place& place) {
  const auto time = [](double seconds) { return MeasuredTime{seconds, seconds, seconds}; };
  record.default_time = time(times.by_default);
  record.time = time(times.tuned);
  record.confirmed = true;
  set_place(record, place);
  record.unix_ms = unix_milliseconds();
  return record;
}

}  // namespace

std::vector<ConfirmedKernel> confirm_in_network(const InNetwork& in_network,
                                                const std::vector<KernelCandidates>& candidates,
                                                const ChosenLayouts& layouts, const Observer& observer, Until until) {
  const StepGuard step = observer.begin("running the network with the best schedules of its kernels");
  const Confirmation confirmation(in_network, layouts, observer, until);
  const Place place = place_in(in_network.network.source.as_network()->network->network_identity());
  std::vector<std::optional<ConfirmedKernel>> best(candidates.size());
  std::vector<LeastTimes> best_times(candidates.size());
  Clock::duration last{};
  std::size_t chances = kLeastChances;
  for (const KernelCandidates& kernel : candidates) chances = std::max(chances, kernel.firsts);
  for (std::size_t chance = 0; chance < chances && !observer.must_end(); ++chance) {
    const Clock::time_point start = Clock::now();
    if (until && chance > 0 && start + last > *until) break;
    ChosenPoints points;
    std::vector<const TuneRecord*> tried(candidates.size());
    bool is_new = false;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const bool is_faster = best[c] && best[c]->is_faster;
      const bool is_settled = chance >= candidates[c].records.size() || (is_faster && chance >= candidates[c].firsts);
      if (is_settled && !is_faster) continue;
      const TuneRecord& record = is_settled ? best[c]->record : candidates[c].records[chance];
      points.emplace(record.key.program, ChosenPoint{record.algorithm, record.values});
      tried[c] = &record;
      is_new |= !is_settled;
    }
    if (!is_new) break;
    const std::map<std::string, LeastTimes> times = confirmation.times(points);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const auto found = times.find(in_network.profile.kernels[candidates[c].kernel].kernel);
      if (tried[c] == nullptr || found == times.end()) continue;
      // The best runs again beside others' candidates, and all of its times count.
      const bool is_again = best[c] && tried[c] == &best[c]->record;
      LeastTimes all = found->second;
      if (is_again) all.add(best_times[c].by_default, best_times[c].tuned);
      ConfirmedKernel one{candidates[c].kernel, confirmed(*tried[c], all, place), false};
      one.is_faster = *share_of_default(one.record) < 1 - kLeastGain;
      if (best[c] && !is_again && *share_of_default(one.record) >= *share_of_default(best[c]->record)) continue;
      best[c] = std::move(one);
      best_times[c] = all;
    }
    last = Clock::now() - start;
  }
  std::vector<ConfirmedKernel> all;
  for (std::optional<ConfirmedKernel>& one : best)
    if (one) all.push_back(*std::move(one));
  return all;
}

}  // namespace ferry::tune
