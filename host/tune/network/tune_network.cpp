#include "host/tune/network/tune_network.h"

#include "host/measure/compare.h"
#include "host/tune/comparison_options.h"
#include "host/tune/network/confirm_in_network.h"
#include "host/tune/network/kernel_queue.h"
#include "host/tune/network/measured_layouts.h"
#include "host/tune/network/network_budget.h"
#include "host/tune/network/network_candidates.h"
#include "host/tune/network/network_profile.h"
#include "host/tune/network/task_ranking.h"
#include "host/tune/network/task_searches.h"
#include "host/tune/recorded_schedules.h"
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
// The share of the budget that measuring other layouts may take.
constexpr double kMostForLayouts = 0.1;

class NetworkTuner {
 public:
  NetworkTuner(std::span<const bench::NamedDevice> devices, const TunedKernel& network, const TuneOptions& options,
               const Observer& observer)
      : devices_(devices),
        network_(network),
        base_(network),
        options_(options),
        observer_(observer),
        kept_(devices.begin(), devices.end()),
        budget_(options.budget_seconds, options.processes > 0),
        searches_(kept_, network_, options, observer) {
    network_.source.tuned = base_.source.tuned = nullptr;
  }

  TunedNetwork run() {
    profile_ = profile_network(devices_.front(), network_, options_, observer_);
    find_layouts();
    update_costs();
    list_tasks();
    search();
    found_.is_interrupted = observer_.must_end();
    if (!found_.is_interrupted && options_.processes > 0) {
      candidates_ = rank_tasks({tasks_, searches_, profile_, budget_, options_, network_}, observer_);
      searches_.clear();
      for (KeptSession& session : kept_) session.close();
      confirm();
    }
    found_.progress.seconds = budget_.elapsed();
    report_tasks();
    return std::move(found_);
  }

 private:
  // If other layouts make the network faster, its kernels are those that it has with them.
  void find_layouts() {
    const double seconds = 2 * (profile_.compile_seconds + profile_.session_seconds);
    if (options_.processes == 0 || (options_.budget_seconds > 0 && seconds > kMostForLayouts * options_.budget_seconds))
      return;
    found_.layouts = measure_layouts({devices_.front(), network_, options_, profile_}, observer_);
    if (!found_.layouts || !found_.layouts->is_used) return;
    layouts_ = {found_.layouts->key, found_.layouts->chosen};
    base_.source.tuned = std::make_shared<const ChosenSchedules>(ChosenPoints(), layouts_);
    profile_ = profile_network(devices_.front(), base_, options_, observer_);
  }

  void list_tasks() {
    found_.function = function_of(network_.source, network_.function).name;
    tasks_ = tasks_of(profile_.kernels);
    double& all = found_.progress.default_seconds;
    for (const auto& [name, time] : profile_.times) all += time.seconds;
    found_.other_seconds = all;
    std::vector<QueuedKernel> queued;
    for (const NetworkTask& task : tasks_) {
      if (!task.algorithm.empty()) {
        const QueuedKernel& kernel = queued[task.kernel];
        // The estimate may be wrong by as much as it may be above the best one.
        queued.push_back({kernel.by_default * task.ratio, kernel.estimate * task.ratio / kMostOverBest, task.kernel});
        continue;
      }
      const NetworkProgram& kernel = profile_.kernels[task.kernel];
      const KernelTime time = profile_.times[kernel.kernel];
      NetworkKernelResult& result = found_.kernels.emplace_back();
      result.kernel = kernel.kernel;
      result.nodes = kernel.nodes;
      result.algorithm = kernel.algorithm;
      result.seconds = time.seconds;
      result.estimate = std::min(least_seconds(time, profile_.peak), time.seconds);
      found_.other_seconds -= time.seconds;
      queued.push_back({result.seconds, std::min(result.estimate, kMostOfTime * result.seconds)});
    }
    found_.other_seconds = std::max(0.0, found_.other_seconds);  // rounded differently
    queue_.emplace(std::move(queued));
    for (std::size_t t = 0; t < tasks_.size(); ++t)
      if (queue_->is_pruned(t)) tasks_[t].state = KernelState::pruned;
    update_progress();
  }

  // Writes down what became of the tasks.
  void report_tasks() {
    for (const NetworkTask& task : tasks_) {
      NetworkKernelResult& kernel = found_.kernels[task.kernel];
      if (!task.algorithm.empty()) {
        kernel.others.push_back({task.algorithm, task.state, task.reason, task.ratio, task.trials, task.share()});
        if (task.is_measured) kernel.best_share = std::min(kernel.best_share, task.share());
        continue;
      }
      kernel.state = task.state;
      kernel.reason = task.reason;
      kernel.trials = task.trials;
      kernel.best_share = task.share();
    }
  }

  void update_progress() {
    Progress& progress = found_.progress;
    progress.seconds = budget_.elapsed();
    progress.best_seconds = progress.default_seconds;
    std::vector<double> shares(found_.kernels.size(), 1);
    std::size_t open = 0;
    for (const NetworkTask& task : tasks_) {
      if (task.algorithm.empty() || task.is_measured) shares[task.kernel] = std::min(shares[task.kernel], task.share());
      open += task.algorithm.empty() && task.state != KernelState::pruned ? 1 : 0;
    }
    for (std::size_t k = 0; k < shares.size(); ++k)
      progress.best_seconds -= found_.kernels[k].seconds * (1 - shares[k]);
    const auto faster = std::ranges::count_if(shares, [](double share) { return share < 1 - kLeastGain; });
    progress.best_point = std::to_string(faster) + " of " + std::to_string(open) + " kernels";
  }

  // The network may have been in the cache of modules; with other schedules it is not.
  void update_costs() {
    const double compile = searches_.compile_seconds() * static_cast<double>(profile_.kernels.size());
    budget_.set_costs({std::max(compile, profile_.compile_seconds), profile_.session_seconds});
  }

  // Does something with the search of a task. Returns false if the task cannot be tuned.
  bool with_search(NetworkTask& task, const std::function<void(TaskSearch&)>& work) {
    return searches_.with(task, [&](TaskSearch& search) {
      update_costs();
      work(search);
    });
  }

  double turn_seconds() const {
    const std::optional<double> left = budget_.search_seconds_left();
    if (!left) return kMostTurn;
    const auto waiting = std::ranges::count(tasks_, KernelState::waiting, &NetworkTask::state);
    return std::clamp(*left / static_cast<double>(2 * std::max<std::ptrdiff_t>(waiting, 1)), kLeastTurn, kMostTurn);
  }

  bool is_over() const {
    return observer_.must_end() || (options_.has_trials_limit && trials_ >= options_.trials) ||
           budget_.is_after(budget_.end_of_search());
  }

  void search() {
    const double turn_length = turn_seconds();
    while (!is_over()) {
      std::optional<std::size_t> next = queue_->next();
      const bool is_first_look = !next;
      if (!next) next = unmeasured();
      if (!next) return;
      NetworkTask& task = tasks_[*next];
      if (!task.algorithm.empty() && !measure_default(tasks_[task.kernel])) {
        if (is_over()) return;
        queue_->end(*next);
        task.state = KernelState::failed;
        task.reason = "the default of its kernel cannot be measured";
        continue;
      }
      const std::uint64_t tried =
          is_first_look ? take_turn(task, 0, 1)
                        : take_turn(task, std::min(turn_length, budget_.search_seconds_left().value_or(turn_length)));
      queue_->report(*next, task.algorithm.empty() ? task.best_share : task.share() / task.ratio);
      if (task.state != KernelState::tuned || tried == 0) queue_->end(*next);
    }
  }

  // Returns an algorithm of which nothing but an estimate is known, for when nothing more is expected of all others.
  std::optional<std::size_t> unmeasured() const {
    const auto found = std::ranges::find_if(
        tasks_, [](const NetworkTask& task) { return !task.algorithm.empty() && task.state == KernelState::waiting; });
    return found == tasks_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - tasks_.begin()));
  }

  // Returns the number of points that were tried.
  std::uint64_t take_turn(NetworkTask& task, double seconds, std::optional<std::uint64_t> most = {}) {
    SearchTurn turn{.seconds = seconds, .trials = most};
    if (options_.has_trials_limit && !most) turn.trials = options_.trials - trials_;
    turn.on_trial = [&](const TuneRecord& record, const Progress& progress) {
      ++found_.progress.trials[record.outcome];
      if (task.trials++ == 0) found_.progress.points += progress.points;
      if (!task.algorithm.empty() && progress.default_seconds > 0) {
        task.default_share = progress.default_seconds / alone_seconds_.at(task.kernel);
        task.is_measured = true;
      }
      if (const std::optional<double> share = share_of_default(record))
        task.best_share = std::min(task.best_share, *share);
      found_.progress.trying = task.name + ": " + progress.trying;
      update_progress();
      if (options_.on_trial) options_.on_trial(record, found_.progress);
    };
    std::uint64_t tried = 0;
    if (with_search(task, [&](TaskSearch& search) { tried = search.search(turn); })) task.state = KernelState::tuned;
    trials_ += tried;
    return tried;
  }

  // Times the default of a kernel by itself, against which other algorithms are held. Returns false if this cannot be
  // done.
  bool measure_default(NetworkTask& task) {
    if (alone_seconds_.contains(task.kernel)) return true;
    const KernelState before = task.state;
    double seconds = 0;
    const auto read = [&](TaskSearch& search) { seconds = search.progress().default_seconds; };
    if (with_search(task, read) && seconds == 0) {
      take_turn(task, 0, 1);
      (void)with_search(task, read);
      if (before == KernelState::pruned && task.state == KernelState::tuned) task.state = before;
    }
    if (seconds > 0) alone_seconds_[task.kernel] = seconds;
    return seconds > 0;
  }

  void confirm() {
    found_.is_interrupted = observer_.must_end();
    if (found_.is_interrupted || (candidates_.empty() && layouts_.layouts.empty())) return;
    const InNetwork in_network{devices_.front(), network_, options_, profile_};
    std::vector<ConfirmedKernel> confirmed;
    if (!candidates_.empty())
      confirmed = confirm_in_network(in_network, candidates_, layouts_, observer_, budget_.end_of_confirmation());
    ChosenPoints points;
    for (const ConfirmedKernel& one : confirmed) {
      NetworkKernelResult& kernel = found_.kernels[one.kernel];
      kernel.point = one.record.point;
      kernel.point_algorithm = one.record.algorithm;
      kernel.share_in_network = *share_of_default(one.record);
      kernel.is_used = one.is_faster;
      if (one.is_faster) points.emplace(one.record.key.program, ChosenPoint{one.record.algorithm, one.record.values});
    }
    if (!points.empty() || !layouts_.layouts.empty()) compare(std::move(points));
    if (found_.layouts) found_.layouts->is_used &= found_.is_faster;
    if (found_.layouts && found_.layouts->is_used && !options_.records.empty())
      store_record(options_.records, record_of(*found_.layouts, in_network, found_.function));
    // A schedule that was slower in the network is not used, even if it was faster by itself.
    for (const ConfirmedKernel& one : confirmed)
      if (!options_.records.empty() && (found_.is_faster || !one.is_faster))
        store_record(options_.records, complete(one));
  }

  TuneRecord complete(const ConfirmedKernel& one) const {
    const std::vector<OtherAlgorithm>& others = profile_.kernels[one.kernel].others;
    const auto other = std::ranges::find(others, one.record.algorithm, &OtherAlgorithm::name);
    if (other == others.end()) return one.record;
    return with_code(one.record, other->program, *network_.source.compiler, profile_.target);
  }

  void compare(ChosenPoints points) {
    const StepGuard step = observer_.begin("comparing the network with the one that has default schedules");
    KernelSource tuned = network_.source;
    tuned.tuned = std::make_shared<const ChosenSchedules>(std::move(points), layouts_);
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
  TunedKernel network_, base_;  // base_ has the layouts that were found
  const TuneOptions& options_;
  const Observer& observer_;
  std::vector<KeptSession> kept_;
  NetworkBudget budget_;
  TaskSearches searches_;
  NetworkProfile profile_;
  ChosenLayouts layouts_;  // none if those of the compiler are the best
  std::vector<NetworkTask> tasks_;
  std::optional<KernelQueue> queue_;
  std::map<std::size_t, double> alone_seconds_;  // default schedules, by kernel
  std::uint64_t trials_ = 0;
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

}  // namespace ferry::tune
