#include "host/tune/network/task_ranking.h"

#include "host/tune/network/network_candidates.h"
#include "host/tune/recorded_schedules.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace ferry::tune {

namespace {

class TaskRanker {
 public:
  TaskRanker(const RankedNetwork& in, const Observer& observer) : in_(in), observer_(observer) {}

  std::vector<KernelCandidates> run() {
    std::map<std::size_t, std::vector<TuneRecord>> found;  // by kernel
    bool is_enough = false;
    for (const std::size_t t : order()) {
      if (observer_.must_end() || (is_enough && in_.budget.is_after(in_.budget.end_of_ranking()))) break;
      std::vector<TuneRecord> records = ranked(in_.tasks[t]);
      is_enough |= !records.empty();
      std::ranges::move(records, std::back_inserter(found[in_.tasks[t].kernel]));
    }
    std::vector<KernelCandidates> candidates;
    for (auto& [kernel, records] : found) {
      add_recorded(kernel, records);
      if (!records.empty()) candidates.push_back(in_order(kernel, std::move(records)));
    }
    return candidates;
  }

 private:
  // Returns the tasks that may have something. Earlier runs may have found schedules of those that had no turn.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> order(in_.tasks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t t) {
      const NetworkTask& task = in_.tasks[t];
      return task.state != KernelState::tuned && (task.state != KernelState::waiting || !task.algorithm.empty());
    });
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t t) {
      const auto time = in_.profile.times.find(in_.profile.kernels[in_.tasks[t].kernel].kernel);
      return time == in_.profile.times.end() ? 0 : time->second.seconds * (1 - in_.tasks[t].share());
    });
    return order;
  }

  // Returns the best of a task for its kernel; with another algorithm its default schedule at least, unless it takes
  // much longer than the kernel's own.
  std::vector<TuneRecord> ranked(NetworkTask& task) {
    std::vector<TuneRecord> records;
    if (!task.algorithm.empty()) compare_defaults(task);
    (void)in_.searches.with(task, [&](TaskSearch& search) {
      records = search.rank(in_.budget.end_of_ranking());
      // The best of many trials is often a lucky one.
      task.best_share = records.empty() ? 1 : *share_of_default(records.front());
      if (!task.algorithm.empty() && records.empty() && task.is_measured) records.push_back(search.default_record());
    });
    if (task.algorithm.empty()) return records;
    const std::optional<KernelDefault> by_default = default_of(task.kernel);
    if (!by_default || !task.is_measured) return {};
    for (TuneRecord& record : records) {
      const double share = task.default_share * *share_of_default(record);
      record = algorithm_record(std::move(record), task.algorithm, *by_default, share);
    }
    std::erase_if(records, [](const TuneRecord& record) { return *share_of_default(record) > kMostOverBest; });
    return records;
  }

  // Times the default schedules of a task with another algorithm and of its kernel again, in turns.
  void compare_defaults(NetworkTask& task) {
    constexpr int kRounds = 3;
    constexpr double kNever = std::numeric_limits<double>::infinity();
    double seconds[2] = {kNever, kNever};
    NetworkTask* const tasks[2] = {&in_.tasks[task.kernel], &task};
    for (int round = 0; round < kRounds; ++round) {
      if (round > 0 && in_.budget.is_after(in_.budget.end_of_ranking())) break;
      for (const int side : {0, 1})
        (void)in_.searches.with(*tasks[side], [&](TaskSearch& search) {
          seconds[side] = std::min(seconds[side], search.time_default().value_or(kNever));
        });
    }
    if (std::isfinite(seconds[0]) && std::isfinite(seconds[1])) task.default_share = seconds[1] / seconds[0];
  }

  std::optional<KernelDefault> default_of(std::size_t kernel) {
    std::optional<KernelDefault> found;
    (void)in_.searches.with(in_.tasks[kernel], [&](TaskSearch& search) {
      found = KernelDefault{search.task().key, search.task().function, search.records().default_code()};
    });
    return found;
  }

  // Adds what an earlier run has found with other algorithms.
  void add_recorded(std::size_t kernel, std::vector<TuneRecord>& records) {
    if (in_.profile.kernels[kernel].others.empty()) return;
    const std::optional<KernelDefault> by_default = default_of(kernel);
    if (!by_default) return;
    const KernelSource& source = in_.network.source;
    std::optional<TuneRecord> recorded = recorded_algorithm(
        in_.options.records, *by_default, in_.profile.kernels[kernel], version_of(*source.compiler, in_.profile.target),
        place_in(source.as_network()->network->network_identity()));
    const auto is_same = [&](const TuneRecord& record) {
      return record.algorithm == recorded->algorithm && record.values == recorded->values;
    };
    if (recorded && std::ranges::none_of(records, is_same)) records.push_back(*std::move(recorded));
  }

  const RankedNetwork& in_;
  const Observer& observer_;
};

}  // namespace

std::vector<KernelCandidates> rank_tasks(const RankedNetwork& network, const Observer& observer) {
  const StepGuard step = observer.begin("measuring the best schedules of each kernel again");
  return TaskRanker(network, observer).run();
}

}  // namespace ferry::tune
