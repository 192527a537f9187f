#include "host/tune/tune.h"

#include "host/kernel/compile_kernel.h"
#include "host/measure/compare.h"
#include "host/tune/comparison_options.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/task_search.h"
#include "host/tune/tuned_task.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace ferry::tune {

namespace {

using Clock = std::chrono::steady_clock;

// Shares of the budget: until then points are searched, and then the best of them are measured again. The rest is for
// the comparison of the best with the default.
constexpr double kEndOfSearch = 0.8, kEndOfRanking = 0.87;

class Tuner {
 public:
  Tuner(std::span<const bench::NamedDevice> devices, const TunedKernel& kernel, const TuneOptions& options,
        const Observer& observer)
      : devices_(devices),
        options_(options),
        observer_(observer),
        target_(kernel.target),
        kept_(devices.begin(), devices.end()),
        search_(kept_, kernel, options, observer) {}

  Tuned run() {
    if (options_.peak) search_.measure_peak();
    const double seconds = search_seconds() - seconds_since_start();
    const auto trials = options_.has_trials_limit ? std::optional(options_.trials) : std::nullopt;
    search_.search({seconds, trials, options_.on_trial});
    found_.is_interrupted = observer_.must_end();
    found_.best = search_.best();
    found_.is_faster = found_.best.time && share_of_default(found_.best).value_or(1) < 1 - kLeastGain;
    found_.earlier = search_.earlier();
    found_.earlier_share = search_.earlier_share();
    found_.searcher_failure = search_.failure();
    if (!found_.is_interrupted && options_.processes > 0) confirm();
    found_.task = std::make_shared<const TunedTask>(search_.task());
    found_.progress = search_.progress();
    found_.progress.seconds = seconds_since_start();
    return std::move(found_);
  }

 private:
  double seconds_since_start() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  double search_seconds() const {
    if (options_.budget_seconds <= 0) return std::numeric_limits<double>::infinity();
    return options_.budget_seconds * (options_.processes > 0 ? kEndOfSearch : 1);
  }

  // Returns when so much of the budget has been used.
  std::optional<Clock::time_point> at_share(double share) const {
    if (options_.budget_seconds <= 0) return std::nullopt;
    const std::chrono::duration<double> seconds(share * options_.budget_seconds);
    return start_ + std::chrono::duration_cast<Clock::duration>(seconds);
  }

  void confirm() {
    const StepGuard step = observer_.begin("comparing the best schedule with the default");
    search_.rank(at_share(kEndOfRanking));
    found_.is_faster = false;
    const Finalist* best = search_.finalists().best();
    if (best == nullptr) return;
    // A server may have one place, and a board one lease.
    for (KeptSession& session : kept_) session.close();
    const TunedTask& task = search_.task();
    const bench::KernelPair pair{bench::ComparedKernel{task.at({}), task.function},
                                 bench::ComparedKernel{task.at(values_in_order(best->point)), task.function}};
    std::optional<double> left;
    if (options_.budget_seconds > 0) left = options_.budget_seconds - seconds_since_start();
    const bench::CompareOptions compare =
        comparison_options(options_, task.call, target_, 2 * search_.progress().default_seconds, left);
    record_comparison(*best, bench::compare(devices_.front().open, pair, compare, observer_, at_share(1)));
  }

  void record_comparison(const Finalist& best, const bench::KernelComparison& compared) {
    found_.comparison = compared;
    Tried tried{.point = best.point, .trial = {}, .device = search_.device()};
    tried.code = search_.identity(*best.module);
    const std::optional<Trial> trial = trial_of(compared);
    if (!trial) return;
    tried.trial = *trial;
    TuneRecord record = search_.records().record_of(tried);
    record.confirmed = trial->outcome == Outcome::measured;
    search_.records().store(record);
    if (!record.confirmed) return;
    found_.best = std::move(record);
    found_.is_faster = compared.times.verdict == stats::Verdict::a_slower;
  }

  Clock::time_point start_ = Clock::now();
  std::span<const bench::NamedDevice> devices_;
  const TuneOptions& options_;
  const Observer& observer_;
  std::string target_;  // empty: that of the devices
  std::vector<KeptSession> kept_;
  TaskSearch search_;
  Tuned found_;
};

}  // namespace

Tuned tune(std::span<const bench::NamedDevice> devices, const TunedKernel& kernel, const TuneOptions& options,
           const Observer& observer) {
  (void)expect_compiler(kernel.source.compiler, "ferry tune");
  return Tuner(devices, kernel, options, observer).run();
}

}  // namespace ferry::tune
