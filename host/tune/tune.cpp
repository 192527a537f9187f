#include "host/tune/tune.h"

#include "base/quantity_text.h"
#include "base/throw_status.h"
#include "crosscompile/ir/error.h"
#include "host/kernel/compile_kernel.h"
#include "host/measure/compare.h"
#include "host/tune/builder/process_builder.h"
#include "host/tune/comparison_options.h"
#include "host/tune/finalists.h"
#include "host/tune/foreign/foreign_searcher.h"
#include "host/tune/pipeline.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_file.h"
#include "host/tune/records/record_text.h"
#include "host/tune/runner/device_runner.h"
#include "host/tune/search/search.h"
#include "host/tune/trial_records.h"
#include "host/tune/tuned_task.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

namespace ferry::tune {

namespace {

using Clock = std::chrono::steady_clock;

// So much of the budget is for the comparison in the end.
constexpr double kShareForComparison = 0.2;
constexpr double kPollSeconds = 0.2;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// A point of an earlier run.
struct EarlierPoint {
  SpacePoint point;
  std::optional<double> share;  // its time over the default's, if it was measured
  std::string failure;          // otherwise
};

class Tuner {
 public:
  Tuner(std::span<const bench::NamedDevice> devices, const TunedKernel& kernel, const TuneOptions& options,
        const Observer& observer)
      : devices_(devices),
        options_(options),
        observer_(observer),
        compiler_(*kernel.source.compiler),
        given_target_(kernel.target) {
    const Device device = open_first(kernel);
    task_ = task_of(kernel, target_for(device, kernel.target, kernel.source, observer), options);
    runner_task_.devices = devices_for(kernel.target, kernel.source);
  }

  Tuned run() {
    const Compile compile = [this](const PointInOrder& point) { return task_.compile(point); };
    builder_ = options_.make_builder ? options_.make_builder(compile) : std::make_unique<ProcessBuilder>(compile);
    found_.best.function = task_.function;
    make_runner_task();
    read_earlier();
    if (const std::optional<KnownBest> best = best_of_earlier()) found_.earlier_share = best->share_of_default;
    search_points();
    if (!found_.is_interrupted) confirm();
    found_.progress.seconds = seconds_since(start_);
    return std::move(found_);
  }

 private:
  Device open_first(const TunedKernel& kernel) const {
    ConnectOptions connection;
    connection.devices = devices_for(kernel.target, kernel.source);
    return devices_.front().open(connection);
  }

  // The default schedule is built like any other point, so that nothing is compiled in this process.
  void make_runner_task() {
    const StepGuard step = observer_.begin("compiling the default schedule of " + task_.function);
    BuildResult built = builder_->build({});
    if (const auto* failure = std::get_if<Failure>(&built))
      throw CompileError("the default schedule of " + task_.function + " cannot be compiled: " + failure->reason);
    runner_task_.default_module = std::get<ModuleBytes>(std::move(built));
    records_.emplace(task_, version_of(compiler_, task_.target), options_.records,
                     compiler_.code_identity(runner_task_.default_module));
    runner_task_.info =
        choose_function(CompiledModule(runner_task_.default_module).manifest(), task_.function, task_.source.name);
    runner_task_.plan = plan_call(runner_task_.info, task_.call, input_range(task_.source));
    runner_task_.cores = options_.cores;
    runner_task_.threads = options_.threads;
    runner_task_.cache_bytes = task_.target.l2_bytes;
    const std::optional<SpacePoint> space = task_.space_at(PointValues());
    if (!space || space->knobs.empty())
      throw UsageError(task_.function + ": the default schedule has no knobs, so there is nothing to tune");
    found_.progress.points = space->points;
  }

  // Takes what earlier runs have found out. Times of other runs say how a point compares with the default, whose time
  // is another today.
  void read_earlier() {
    if (options_.records.empty()) return;
    for (const TuneRecord& record : value_or_throw(read_records(options_.records, task_.key.program)).records) {
      if (record.key != task_.key || record.values.empty()) continue;
      ++found_.earlier;
      const std::optional<SpacePoint> point = task_.space_at(record.values);
      if (!point) continue;
      const std::optional<double> share = share_of_default(record);
      earlier_points_.push_back({*point, share, share ? "" : outcome_name(record.outcome)});
      if (share && record.default_code == records_->default_code() && record.code != record.default_code)
        finalists_.add({*point, nullptr, std::log(*share)});
    }
  }

  // Tells the search of them.
  void report_earlier(double default_seconds) {
    for (const EarlierPoint& earlier : earlier_points_)
      searcher_->report(earlier.point, {earlier.share ? std::optional(*earlier.share * default_seconds) : std::nullopt,
                                        earlier.failure});
  }

  void take(const Tried& tried) {
    Progress& progress = found_.progress;
    const TuneRecord record = records_->record_of(tried);
    records_->store(record);
    ++progress.trials[tried.trial.outcome];
    progress.seconds = seconds_since(start_);
    const bool is_first = progress.default_seconds == 0;
    if (tried.trial.default_time) progress.default_seconds = tried.trial.default_time->seconds;
    pipeline_->with_lock([&] {
      const auto& time = tried.trial.time;
      searcher_->report(tried.point, {time ? std::optional(time->seconds) : std::nullopt,
                                      time ? "" : outcome_name(tried.trial.outcome)});
      if (is_first && progress.default_seconds > 0) report_earlier(progress.default_seconds);
    });
    if (const std::optional<double> share = share_of_default(record)) {
      if (tried.code != records_->default_code()) finalists_.add({tried.point, tried.module, std::log(*share)});
      if (progress.best_seconds == 0 || tried.trial.time->seconds < progress.best_seconds) {
        progress.best_seconds = tried.trial.time->seconds;
        progress.best_point = tried.point.text;
        pipeline_->set_best(progress.best_seconds);
        found_.best = record;
      }
    }
    progress.trying = pipeline_->running();
    if (options_.on_trial) options_.on_trial(record, progress);
  }

  double search_seconds() const {
    if (options_.budget_seconds <= 0) return std::numeric_limits<double>::infinity();
    return options_.budget_seconds * (options_.processes > 0 ? 1 - kShareForComparison : 1);
  }

  SearchTask search_task() const {
    const DeviceKey& device = task_.key.device;
    return {task_.function, task_.sizes, task_.fixed, device.arch, device.cpu, device.threads};
  }

  std::optional<KnownBest> best_of_earlier() const {
    std::optional<KnownBest> best;
    for (const EarlierPoint& earlier : earlier_points_)
      if (earlier.share && (!best || *earlier.share < best->share_of_default))
        best = KnownBest{earlier.point, *earlier.share};
    return best;
  }

  void search_points() {
    const SpaceAt space = [this](const PointValues& values) { return task_.space_at(values); };
    ForeignSearcher* foreign = nullptr;
    if (options_.searcher.empty()) {
      searcher_ = std::make_unique<Search>(space, options_.seed);
    } else {
      auto own = std::make_unique<ForeignSearcher>(options_.searcher, search_task(), best_of_earlier(), space);
      foreign = own.get();
      searcher_ = std::move(own);
    }
    // Their times count once the default's is known.
    for (const EarlierPoint& earlier : earlier_points_) searcher_->report(earlier.point, {});
    PipelineParts parts{
        .next = [this] { return searcher_->next(); },
        .identity = [this](const ModuleBytes& module) { return compiler_.code_identity(module); },
        .builder = *builder_,
        .builders = options_.builders != 0 ? options_.builders : std::max(1U, std::thread::hardware_concurrency()),
        .runners = {}};
    std::function<void()> begin, end;
    if (options_.is_local) {
      begin = [this] { builder_->pause(); };
      end = [this] { builder_->resume(); };
    }
    Observer quiet;
    quiet.is_interrupted = observer_.is_interrupted;
    for (const bench::NamedDevice& device : devices_)
      parts.runners.push_back(std::make_unique<DeviceRunner>(device, runner_task_, quiet, begin, end));
    pipeline_.emplace(std::move(parts));
    if (foreign != nullptr) foreign->start([this] { pipeline_->try_again(); });
    std::uint64_t trials = 0;
    while (true) {
      found_.is_interrupted = observer_.must_end();
      if (found_.is_interrupted) break;
      if (options_.has_trials_limit && trials >= options_.trials) break;
      if (trials > 0 && seconds_since(start_) > search_seconds()) break;
      const std::optional<Tried> tried = pipeline_->wait(kPollSeconds);
      if (tried) {
        ++trials;
        take(*tried);
      } else if (!searcher_->is_thinking() && pipeline_->is_exhausted()) {
        break;
      }
    }
    pipeline_->finish();
    found_.searcher_failure = searcher_->failure();
    found_.is_faster = found_.best.time && share_of_default(found_.best).value_or(1) < 1 - kLeastGain;
  }

  bench::CompareOptions comparison_options() const {
    const double seconds = search_seconds();
    return tune::comparison_options(options_, task_.call, given_target_, 2 * found_.progress.default_seconds,
                                    std::isfinite(seconds) ? options_.budget_seconds - seconds : 0);
  }

  // Measures the best again.
  void rank() {
    const std::optional<double> by_default =
        finalists_.rank(*builder_, pipeline_->runner(0), runner_task_.default_module);
    if (!by_default) return;
    for (const Finalist& finalist : finalists_.all()) {
      if (finalist.log_share >= 0) break;
      const double seconds = *by_default * std::exp(finalist.log_share);
      Tried tried{.point = finalist.point, .trial = {}, .device = devices_.front().name};
      tried.code = compiler_.code_identity(*finalist.module);
      tried.trial.time = MeasuredTime{seconds, seconds, seconds};
      tried.trial.default_time = MeasuredTime{*by_default, *by_default, *by_default};
      found_.ranked.push_back(records_->record_of(tried));
    }
  }

  void confirm() {
    if (options_.processes == 0 && !options_.ranks_best) return;
    const StepGuard step = observer_.begin("comparing the best schedule with the default");
    rank();
    if (options_.processes == 0) return;
    found_.is_faster = false;
    const Finalist* best = finalists_.best();
    if (best == nullptr) return;
    const bench::KernelPair pair{bench::ComparedKernel{task_.at({}), task_.function},
                                 bench::ComparedKernel{task_.at(values_in_order(best->point)), task_.function}};
    const bench::KernelComparison compared =
        bench::compare(devices_.front().open, pair, comparison_options(), observer_);
    record_comparison(*best, compared);
  }

  void record_comparison(const Finalist& best, const bench::KernelComparison& compared) {
    found_.comparison = compared;
    Tried tried{.point = best.point, .trial = {}, .device = devices_.front().name};
    tried.code = compiler_.code_identity(*best.module);
    const std::optional<Trial> trial = trial_of(compared);
    if (!trial) return;
    tried.trial = *trial;
    TuneRecord record = records_->record_of(tried);
    record.confirmed = trial->outcome == Outcome::measured;
    records_->store(record);
    if (!record.confirmed) return;
    found_.best = std::move(record);
    found_.is_faster = compared.times.verdict == stats::Verdict::a_slower;
  }

  Clock::time_point start_ = Clock::now();
  std::span<const bench::NamedDevice> devices_;
  const TuneOptions& options_;
  const Observer& observer_;
  const Compiler& compiler_;
  std::string given_target_;  // empty: that of the devices
  TunedTask task_;
  std::unique_ptr<Builder> builder_;
  RunnerTask runner_task_;
  std::optional<TrialRecords> records_;
  std::vector<EarlierPoint> earlier_points_;
  // The searcher's own thread calls the pipeline, so it ends first.
  std::optional<Pipeline> pipeline_;
  std::unique_ptr<Searcher> searcher_;
  Finalists finalists_;
  Tuned found_;
};

}  // namespace

Tuned tune(std::span<const bench::NamedDevice> devices, const TunedKernel& kernel, const TuneOptions& options,
           const Observer& observer) {
  (void)expect_compiler(kernel.source.compiler, "ferry tune");
  return Tuner(devices, kernel, options, observer).run();
}

}  // namespace ferry::tune
