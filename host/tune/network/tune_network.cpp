#include "host/tune/network/tune_network.h"

#include "crosscompile/ir/error.h"
#include "ferry/kernel/kernel_failed.h"
#include "host/measure/compare.h"
#include "host/tune/comparison_options.h"
#include "host/tune/network/confirm_in_network.h"
#include "host/tune/network/kernel_queue.h"
#include "host/tune/network/network_budget.h"
#include "host/tune/network/network_profile.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/task_search.h"
#include "host/tune/trial_records.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace ferry::tune {

namespace {

constexpr double kLeastTurn = 2, kMostTurn = 10;  // seconds
// Peaks and steps are not measured at the same time, so a kernel that seems to reach the peak may still gain this much.
constexpr double kMostOfTime = 0.9;

class NetworkTuner {
 public:
  NetworkTuner(std::span<const bench::NamedDevice> devices, const TunedKernel& network, const TuneOptions& options,
               const Observer& observer)
      : devices_(devices),
        network_(network),
        options_(options),
        observer_(observer),
        kept_(devices.begin(), devices.end()),
        budget_(options.budget_seconds, options.processes > 0) {
    network_.source.tuned = nullptr;
    quiet_.is_interrupted = observer.is_interrupted;
  }

  TunedNetwork run() {
    profile_ = profile_network(devices_.front(), network_, options_, observer_);
    update_costs();
    list_kernels();
    search();
    found_.is_interrupted = observer_.must_end();
    if (!found_.is_interrupted && options_.processes > 0) {
      rank();
      searches_.clear();
      for (KeptSession& session : kept_) session.close();
      confirm();
    }
    found_.progress.seconds = budget_.elapsed();
    return std::move(found_);
  }

 private:
  void list_kernels() {
    found_.function = function_of(network_.source, network_.function).name;
    double& all = found_.progress.default_seconds;
    for (const auto& [name, time] : profile_.times) all += time.seconds;
    found_.other_seconds = all;
    std::vector<QueuedKernel> queued;
    for (const NetworkProgram& kernel : profile_.kernels) {
      const KernelTime time = profile_.times[kernel.kernel];
      NetworkKernelResult& result = found_.kernels.emplace_back();
      result.kernel = kernel.kernel;
      result.nodes = kernel.nodes;
      result.seconds = time.seconds;
      result.estimate = std::min(least_seconds(time, profile_.peak), time.seconds);
      found_.other_seconds -= time.seconds;
      queued.push_back({result.seconds, std::min(result.estimate, kMostOfTime * result.seconds)});
    }
    queue_.emplace(std::move(queued));
    for (std::size_t k = 0; k < found_.kernels.size(); ++k)
      if (queue_->is_pruned(k)) found_.kernels[k].state = KernelState::pruned;
    update_progress();
  }

  TunedKernel kernel_alone(std::size_t k) const {
    lang::Program program = profile_.kernels[k].program;
    program.name = found_.kernels[k].kernel;
    KernelSource source{network_.source.compiler, network_.source.name, {}, TextKernel{.programs = {program}}};
    return {std::move(source), program.name, network_.target};
  }

  void update_progress() {
    Progress& progress = found_.progress;
    progress.seconds = budget_.elapsed();
    progress.best_seconds = progress.default_seconds;
    std::size_t faster = 0, open = 0;
    for (const NetworkKernelResult& kernel : found_.kernels) {
      progress.best_seconds -= kernel.seconds * (1 - kernel.best_share);
      faster += kernel.best_share < 1 - kLeastGain ? 1 : 0;
      open += kernel.state != KernelState::pruned ? 1 : 0;
    }
    progress.best_point = std::to_string(faster) + " of " + std::to_string(open) + " kernels";
  }

  // The options of all kernels by themselves.
  TuneOptions kernel_options() const {
    TuneOptions alone = options_;
    alone.call = {};
    alone.call.seed = options_.call.seed;
    return alone;
  }

  // The network may have been in the cache of modules; with other schedules it is not.
  void update_costs() {
    double compile = 0, searches = 0;
    for (const auto& [k, search] : searches_) {
      if (search == nullptr) continue;
      compile += search->compile_seconds();
      ++searches;
    }
    if (searches > 0) compile *= static_cast<double>(profile_.kernels.size()) / searches;
    budget_.set_costs({std::max(compile, profile_.compile_seconds), profile_.session_seconds});
  }

  // Does something with the search of a kernel, which is begun when it is needed first. Returns false if the kernel
  // cannot be tuned.
  bool with_search(std::size_t k, const std::function<void(TaskSearch&)>& work) {
    NetworkKernelResult& kernel = found_.kernels[k];
    try {
      std::unique_ptr<TaskSearch>& search = searches_[k];
      if (search == nullptr) {
        search = std::make_unique<TaskSearch>(kept_, kernel_alone(k), kernel_options_, quiet_);
        kernel.best_share = std::min(kernel.best_share, search->earlier_share().value_or(1));
        update_costs();
      }
      work(*search);
      return true;
    } catch (const UsageError&) {
      kernel.state = KernelState::fixed;
    } catch (const CompileError& error) {
      kernel.state = KernelState::failed;
      kernel.reason = error.what();
    } catch (const KernelFailed& error) {
      kernel.state = KernelState::failed;
      kernel.reason = error.what();
    }
    return false;
  }

  double turn_seconds() const {
    const std::optional<double> left = budget_.search_seconds_left();
    if (!left) return kMostTurn;
    const auto waiting = std::ranges::count(found_.kernels, KernelState::waiting, &NetworkKernelResult::state);
    return std::clamp(*left / static_cast<double>(2 * std::max<std::ptrdiff_t>(waiting, 1)), kLeastTurn, kMostTurn);
  }

  void search() {
    const double turn_length = turn_seconds();
    std::uint64_t trials = 0;
    while (true) {
      if (observer_.must_end() || (options_.has_trials_limit && trials >= options_.trials)) return;
      if (budget_.is_after(budget_.end_of_search())) return;
      const std::optional<std::size_t> next = queue_->next();
      if (!next) return;
      NetworkKernelResult& kernel = found_.kernels[*next];
      SearchTurn turn{.seconds = std::min(turn_length, budget_.search_seconds_left().value_or(turn_length))};
      if (options_.has_trials_limit) turn.trials = options_.trials - trials;
      std::uint64_t tried = 0;
      turn.on_trial = [&](const TuneRecord& record, const Progress& progress) {
        ++found_.progress.trials[record.outcome];
        if (kernel.trials++ == 0) found_.progress.points += progress.points;
        if (const std::optional<double> share = share_of_default(record))
          kernel.best_share = std::min(kernel.best_share, *share);
        found_.progress.trying = kernel.kernel + ": " + progress.trying;
        update_progress();
        if (options_.on_trial) options_.on_trial(record, found_.progress);
      };
      const bool is_tuned = with_search(*next, [&](TaskSearch& search) { tried = search.search(turn); });
      if (is_tuned) kernel.state = KernelState::tuned;
      trials += tried;
      queue_->report(*next, kernel.best_share);
      if (!is_tuned || tried == 0) queue_->end(*next);
    }
  }

  // Measures the best of each kernel again, those first that promise the most.
  void rank() {
    const StepGuard step = observer_.begin("measuring the best schedules of each kernel again");
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < found_.kernels.size(); ++k)
      if (found_.kernels[k].state == KernelState::tuned || found_.kernels[k].state == KernelState::waiting)
        order.push_back(k);
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t k) {
      return found_.kernels[k].seconds * (1 - found_.kernels[k].best_share);
    });
    for (const std::size_t k : order) {
      if (observer_.must_end() || (!candidates_.empty() && budget_.is_after(budget_.end_of_ranking()))) return;
      std::vector<TuneRecord> ranked;
      if (!with_search(k, [&](TaskSearch& search) { ranked = search.rank(budget_.end_of_ranking()); })) continue;
      // The best of many trials is often a lucky one.
      found_.kernels[k].best_share = ranked.empty() ? 1 : *share_of_default(ranked.front());
      if (!ranked.empty()) candidates_.push_back({k, std::move(ranked)});
    }
  }

  void confirm() {
    found_.is_interrupted = observer_.must_end();
    if (found_.is_interrupted || candidates_.empty()) return;
    InNetwork in_network{devices_.front(), network_, options_, profile_};
    std::vector<ConfirmedKernel> confirmed =
        confirm_in_network(in_network, candidates_, observer_, budget_.end_of_confirmation());
    ChosenPoints points;
    for (const ConfirmedKernel& one : confirmed) {
      NetworkKernelResult& kernel = found_.kernels[one.kernel];
      kernel.point = one.record.point;
      kernel.share_in_network = *share_of_default(one.record);
      kernel.is_used = one.is_faster;
      if (one.is_faster) points.emplace(one.record.key.program, one.record.values);
    }
    if (!points.empty()) compare(std::move(points));
    // A schedule that was slower in the network is not used, even if it was faster by itself.
    for (const ConfirmedKernel& one : confirmed)
      if (!options_.records.empty() && (found_.is_faster || !one.is_faster)) store_record(options_.records, one.record);
  }

  void compare(ChosenPoints points) {
    const StepGuard step = observer_.begin("comparing the network with the one that has default schedules");
    KernelSource tuned = network_.source;
    tuned.tuned = std::make_shared<const ChosenSchedules>(std::move(points));
    const bench::KernelPair pair{bench::ComparedKernel{network_.source, network_.function},
                                 bench::ComparedKernel{std::move(tuned), network_.function}};
    std::optional<double> left;
    if (options_.budget_seconds > 0) left = options_.budget_seconds - budget_.elapsed();
    found_.comparison = bench::compare(
        devices_.front().open, pair,
        comparison_options(options_, options_.call, network_.target, 2 * found_.progress.default_seconds, left),
        observer_, budget_.end());
    found_.is_faster =
        trial_of(*found_.comparison).has_value() && found_.comparison->times.verdict == stats::Verdict::a_slower;
  }

  std::span<const bench::NamedDevice> devices_;
  TunedKernel network_;
  const TuneOptions& options_;
  const Observer& observer_;
  Observer quiet_;
  std::vector<KeptSession> kept_;
  NetworkBudget budget_;
  const TuneOptions kernel_options_ = kernel_options();
  std::map<std::size_t, std::unique_ptr<TaskSearch>> searches_;  // by kernel
  NetworkProfile profile_;
  std::optional<KernelQueue> queue_;
  std::vector<KernelCandidates> candidates_;
  TunedNetwork found_;
};

void expect_network(const TunedKernel& kernel, const TuneOptions& options) {
  if (kernel.source.as_network() == nullptr) throw UsageError(kernel.source.name + ": expected a network");
  if (options.open_sizes)
    throw UsageError(kernel.source.name + ": expected a kernel's text to tune for any sizes, got a network");
  if (!options.searcher.empty())
    throw UsageError(kernel.source.name + ": expected a kernel's text for a searcher of your own, got a network");
}

}  // namespace

TunedNetwork tune_network(std::span<const bench::NamedDevice> devices, const TunedKernel& kernel,
                          const TuneOptions& options, const Observer& observer) {
  (void)expect_compiler(kernel.source.compiler, "ferry tune");
  expect_network(kernel, options);
  return NetworkTuner(devices, kernel, options, observer).run();
}

std::string kernel_state_name(KernelState state) {
  switch (state) {
    case KernelState::waiting: return "waiting";
    case KernelState::pruned: return "pruned";
    case KernelState::fixed: return "fixed";
    case KernelState::failed: return "failed";
    case KernelState::tuned: return "tuned";
  }
  return "";
}

}  // namespace ferry::tune
