#include "host/tune/network/confirm_in_network.h"

#include "base/unix_time.h"
#include "host/kernel/compile_kernel.h"
#include "host/stats/summary.h"
#include "host/tune/recorded_schedules.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace ferry::tune {

namespace {

using Clock = std::chrono::steady_clock;
using Until = std::optional<Clock::time_point>;

constexpr int kSessions = 5, kTurns = 4;
constexpr std::uint32_t kCallsInTurn = 2;  // in a turn
constexpr std::size_t kLeastChances = 2;

struct StepShares {
  std::vector<double> by_default, shares;  // one for each session
};

class Confirmation {
 public:
  Confirmation(const InNetwork& in_network, const Observer& observer, Until until)
      : in_(in_network), observer_(observer), until_(until) {
    default_module_ = compile(nullptr);
  }

  // Returns the times of the kernels in the network with these points.
  std::map<std::string, StepShares> shares(const ChosenPoints& points) const {
    const auto chosen = std::make_shared<const ChosenSchedules>(points);
    const CompiledModule tuned = compile(chosen);
    const std::map<std::string, std::string> names = names_with(*chosen);
    std::map<std::string, StepShares> all;
    Clock::duration last{};
    for (int session = 0; session < kSessions && !observer_.must_end(); ++session) {
      const Clock::time_point start = Clock::now();
      if (until_ && session >= kLeastSessions && start + last > *until_) break;
      ConnectOptions connection;
      connection.devices = devices_for(in_.network.target, in_.network.source);
      const Device device = in_.device.open(connection);
      const LoadedNetwork sides[2] = {load(device, *default_module_), load(device, tuned)};
      std::map<std::string, std::vector<double>> seconds[2];
      for (int turn = 0; turn < kTurns; ++turn)
        for (const int side : {turn % 2, 1 - turn % 2})
          for (const auto& [kernel, time] : times_of(sides[side])) seconds[side][kernel].push_back(time.seconds);
      for (const auto& [kernel, times] : seconds[0]) {
        const auto name = names.find(kernel);
        const auto found = seconds[1].find(name == names.end() ? kernel : name->second);
        if (found == seconds[1].end()) continue;
        const double by_default = stats::median(times);
        all[kernel].by_default.push_back(by_default);
        all[kernel].shares.push_back(stats::median(found->second) / by_default);
      }
      last = Clock::now() - start;
    }
    return all;
  }

 private:
  struct LoadedNetwork {
    Function function;
    std::vector<Argument> arguments;
  };

  CompiledModule compile(std::shared_ptr<const TunedSchedules> tuned) const {
    KernelSource source = in_.network.source;
    source.tuned = std::move(tuned);
    return compile_kernel(source, in_.network.function, in_.profile.target, in_.options.call, observer_).module;
  }

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

  // A first call binds the weights.
  LoadedNetwork load(const Device& device, const CompiledModule& module) const {
    const FunctionInfo& info = choose_function(module.manifest(), in_.network.function, in_.network.source.name);
    const CallPlan plan = plan_call(info, in_.options.call, input_range(in_.network.source));
    LoadedNetwork loaded{device.load(module)[info.name], make_arguments(info, plan, device)};
    loaded.function.call(loaded.arguments);
    return loaded;
  }

  std::map<std::string, KernelTime> times_of(const LoadedNetwork& network) const {
    return kernel_times(
        network.function
            .call_timed(
                network.arguments,
                {.repeat = kCallsInTurn, .cold = false, .cores = in_.options.cores, .threads = in_.options.threads})
            .steps);
  }

  const InNetwork& in_;
  const Observer& observer_;
  Until until_;
  std::optional<CompiledModule> default_module_;
};

// Returns the record with its times in the network.
TuneRecord confirmed(TuneRecord record, const StepShares& shares, const Place& place) {
  const auto time = [](double seconds) { return MeasuredTime{seconds, seconds, seconds}; };
  const double by_default = stats::median(shares.by_default);
  record.default_time = time(by_default);
  record.time = time(by_default * stats::median(shares.shares));
  record.confirmed = true;
  set_place(record, place);
  record.unix_ms = unix_milliseconds();
  return record;
}

}  // namespace

std::vector<ConfirmedKernel> confirm_in_network(const InNetwork& in_network,
                                                const std::vector<KernelCandidates>& candidates,
                                                const Observer& observer, Until until) {
  const StepGuard step = observer.begin("running the network with the best schedules of its kernels");
  const Confirmation confirmation(in_network, observer, until);
  const Place place = place_in(in_network.network.source.as_network()->network->network_identity());
  std::vector<std::optional<ConfirmedKernel>> best(candidates.size());
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
      if (is_settled) continue;
      tried[c] = &record;
      is_new = true;
    }
    if (!is_new) break;
    const std::map<std::string, StepShares> shares = confirmation.shares(points);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const auto found = shares.find(in_network.profile.kernels[candidates[c].kernel].kernel);
      if (tried[c] == nullptr || found == shares.end()) continue;
      ConfirmedKernel one{candidates[c].kernel, confirmed(*tried[c], found->second, place), false};
      one.is_faster = *share_of_default(one.record) < 1 - kLeastGain;
      if (!best[c] || *share_of_default(one.record) < *share_of_default(best[c]->record)) best[c] = std::move(one);
    }
    last = Clock::now() - start;
  }
  std::vector<ConfirmedKernel> all;
  for (std::optional<ConfirmedKernel>& one : best)
    if (one) all.push_back(*std::move(one));
  return all;
}

}  // namespace ferry::tune
