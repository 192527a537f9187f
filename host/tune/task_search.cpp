#include "host/tune/task_search.h"

#include "base/throw_status.h"
#include "crosscompile/ir/error.h"
#include "host/kernel/compile_kernel.h"
#include "host/tune/builder/process_builder.h"
#include "host/tune/recorded_schedules.h"
#include "host/tune/records/record_file.h"
#include "host/tune/records/record_text.h"
#include "host/tune/replay.h"
#include "host/tune/search/search.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <utility>

namespace ferry::tune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kPollSeconds = 0.2;
// To learn what a device is, any session will do.
constexpr double kAnyDeadline = 1;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

class TaskSearch::KnowsDefault final : public Builder {
 public:
  KnowsDefault(const TaskSearch& search, std::unique_ptr<Builder> inner) : search_(search), inner_(std::move(inner)) {}
  BuildResult build(const PointInOrder& point) override {
    const bool is_default = !search_.default_values_.empty() && point == search_.default_values_;
    return is_default ? search_.runner_task_.default_module : inner_->build(point);
  }
  void pause() override { inner_->pause(); }
  void resume() override { inner_->resume(); }

 private:
  const TaskSearch& search_;
  std::unique_ptr<Builder> inner_;
};

class TaskSearch::Active {
 public:
  explicit Active(TaskSearch& search) : search_(search) {
    const Compile compile = [&search](const PointInOrder& point) { return search.task_.compile(point); };
    search_.builder_ = std::make_unique<KnowsDefault>(search, search.options_.make_builder
                                                                  ? search.options_.make_builder(compile)
                                                                  : std::make_unique<ProcessBuilder>(compile));
  }
  ~Active() {
    if (search_.pipeline_) {
      search_.pipeline_->pause();
      for (std::size_t d = 0; d < search_.devices_.size(); ++d) search_.pipeline_->runner(d).rest();
    }
    search_.builder_.reset();
  }
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;

 private:
  TaskSearch& search_;
};

// Lets points be ranked while it lives: a turn's time is the time of its kernel.
class TaskSearch::Ranks {
 public:
  explicit Ranks(BackgroundRanking* ranking) : ranking_(ranking) {
    if (ranking_ != nullptr) ranking_->resume();
  }
  ~Ranks() {
    if (ranking_ != nullptr) ranking_->pause();
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

 private:
  BackgroundRanking* ranking_;
};

TaskSearch::TaskSearch(std::span<KeptSession> devices, const TunedKernel& kernel, const TuneOptions& options,
                       const Observer& observer)
    : devices_(devices), options_(options), observer_(observer), compiler_(*kernel.source.compiler) {
  runner_task_.devices = devices_for(kernel.target, kernel.source);
  const Device device = devices_.front().open(runner_task_.devices, kAnyDeadline);
  task_ = task_of(kernel, target_for(device, kernel.target, kernel.source, observer), options);
  const Active active(*this);
  make_runner_task(*builder_);
  read_earlier();
  make_searcher();
  make_pipeline();
}

// The default schedule is built like any other point, so that nothing is compiled in this process.
void TaskSearch::make_runner_task(Builder& builder) {
  const StepGuard step = observer_.begin("compiling the default schedule of " + task_.function);
  const Clock::time_point compiling = Clock::now();
  BuildResult built = builder.build({});
  compile_seconds_ = seconds_since(compiling);
  if (const auto* failure = std::get_if<Failure>(&built))
    throw CompileError("the default schedule of " + task_.function + " cannot be compiled: " + failure->reason);
  runner_task_.default_module = std::get<ModuleBytes>(std::move(built));
  records_.emplace(task_, version_of(compiler_, task_.target), options_.records, identity(runner_task_.default_module));
  runner_task_.info =
      choose_function(CompiledModule(runner_task_.default_module).manifest(), task_.function, task_.source.name);
  runner_task_.plan = plan_call(runner_task_.info, task_.call, input_range(task_.source));
  runner_task_.cores = options_.cores;
  runner_task_.threads = options_.threads;
  runner_task_.cache_bytes = task_.target.l2_bytes;
  const std::optional<SpacePoint> space = task_.space_at(PointValues());
  if (!space || space->knobs.empty())
    throw UsageError(task_.function + ": the default schedule has no knobs, so there is nothing to tune");
  default_values_ = values_in_order(*space);
  progress_.points = space->points;
  best_.function = task_.function;
}

// Takes what earlier runs have found out. Times of other runs say how a point compares with the default, whose time
// is another today.
void TaskSearch::read_earlier() {
  if (options_.records.empty()) return;
  const std::string version = version_of(compiler_, task_.target);
  const TextKernel& text = *task_.source.as_text();
  const ReplayedTask task{compiler_, choose_program(task_.source, task_.function), task_.open_sizes, task_.target,
                          text.schedule ? &*text.schedule : nullptr};
  for (const TuneRecord& record : value_or_throw(read_records(options_.records, task_.key.program)).records) {
    if (record.key != task_.key || record.values.empty() || !record.algorithm.empty()) continue;
    ++earlier_;
    const std::optional<TuneRecord> renewed = record.version == version ? record : replayed(record, task);
    const std::optional<SpacePoint> point = renewed ? task_.space_at(renewed->values) : std::nullopt;
    if (!point) continue;
    const std::optional<double> share = share_of_default(record);
    earlier_points_.push_back({*point, share, share ? "" : outcome_name(record.outcome)});
    if (share && record.default_code == records_->default_code() && record.code != record.default_code)
      finalists_.add({*point, nullptr, std::log(*share)});
  }
}

// Tells the search of them.
void TaskSearch::report_earlier(double default_seconds) {
  for (const EarlierPoint& earlier : earlier_points_)
    searcher_->report(earlier.point, {earlier.share ? std::optional(*earlier.share * default_seconds) : std::nullopt,
                                      earlier.failure});
}

std::optional<KnownBest> TaskSearch::best_of_earlier() const {
  std::optional<KnownBest> best;
  for (const EarlierPoint& earlier : earlier_points_)
    if (earlier.share && (!best || *earlier.share < best->share_of_default))
      best = KnownBest{earlier.point, *earlier.share};
  return best;
}

std::optional<double> TaskSearch::earlier_share() const {
  const std::optional<KnownBest> best = best_of_earlier();
  return best ? std::optional(best->share_of_default) : std::nullopt;
}

void TaskSearch::make_searcher() {
  const SpaceAt space = [this](const PointValues& values) { return task_.space_at(values); };
  if (options_.searcher.empty()) {
    ranking_ = std::make_unique<BackgroundRanking>(
        space, [this](const SpacePoint& point) { return task_.cycles_at(point); }, options_.seed);
    searcher_ = std::make_unique<Search>(space, options_.seed, [this] { return ranking_->take(); });
  } else {
    const DeviceKey& device = task_.key.device;
    const SearchTask task{task_.function, task_.sizes, task_.fixed, device.arch, device.cpu, device.threads};
    searcher_ = std::make_unique<ForeignSearcher>(options_.searcher, task, best_of_earlier(), space);
  }
  // Their times count once the default's is known.
  for (const EarlierPoint& earlier : earlier_points_) searcher_->report(earlier.point, {});
}

void TaskSearch::make_pipeline() {
  PipelineParts parts{
      .next = [this] { return searcher_->next(); },
      .identity = [this](const ModuleBytes& module) { return identity(module); },
      .builders = options_.builders != 0 ? options_.builders : std::max(1U, std::thread::hardware_concurrency()),
      .runners = {}};
  TimedWindow window;
  if (options_.is_local) {
    window.begin = [this] {
      builder_->pause();
      if (ranking_) ranking_->pause();
    };
    window.end = [this] {
      if (ranking_) ranking_->resume();
      builder_->resume();
    };
  }
  Observer quiet;
  quiet.is_interrupted = observer_.is_interrupted;
  for (KeptSession& device : devices_)
    parts.runners.push_back(std::make_unique<DeviceRunner>(device, runner_task_, quiet, window));
  pipeline_.emplace(std::move(parts));
  if (auto* foreign = dynamic_cast<ForeignSearcher*>(searcher_.get()))
    foreign->start([this] { pipeline_->try_again(); });
  if (ranking_) ranking_->on_ranked([this] { pipeline_->try_again(); });
}

// Both must hold at the same time.
bool TaskSearch::is_over() {
  if (!pipeline_->is_exhausted()) return false;
  bool is_thinking = false;
  pipeline_->with_lock([&] { is_thinking = searcher_->is_thinking(); });
  return !is_thinking && pipeline_->is_exhausted();
}

void TaskSearch::take(const Tried& tried, const SearchTurn& turn) {
  const TuneRecord record = records_->record_of(tried);
  records_->store(record);
  ++progress_.trials[tried.trial.outcome];
  progress_.seconds = seconds_since(start_);
  const bool is_first = progress_.default_seconds == 0;
  if (tried.trial.default_time) progress_.default_seconds = tried.trial.default_time->seconds;
  pipeline_->with_lock([&] {
    const auto& time = tried.trial.time;
    searcher_->report(tried.point, {time ? std::optional(time->seconds) : std::nullopt,
                                    time ? "" : outcome_name(tried.trial.outcome)});
    if (is_first && progress_.default_seconds > 0) report_earlier(progress_.default_seconds);
  });
  if (const std::optional<double> share = share_of_default(record)) {
    if (tried.code != records_->default_code()) finalists_.add({tried.point, tried.module, std::log(*share)});
    if (progress_.best_seconds == 0 || tried.trial.time->seconds < progress_.best_seconds) {
      progress_.best_seconds = tried.trial.time->seconds;
      progress_.best_point = tried.point.text;
      pipeline_->set_best(progress_.best_seconds);
      best_ = record;
    }
  }
  progress_.trying = pipeline_->running();
  if (turn.on_trial) turn.on_trial(record, progress_);
}

void TaskSearch::measure_peak() {
  const StepGuard step = observer_.begin("measuring what the device can do at best");
  BenchOptions bench;
  bench.cores = options_.cores;
  bench.threads = options_.threads;
  try {
    const Device device = devices_.front().open(runner_task_.devices, kAnyDeadline);
    progress_.roofline =
        bench::measure_roofline(device, compiler_, task_.target, runner_task_.info, runner_task_.plan, bench);
  } catch (const Error& error) {
    observer_.tell(std::string("what the device can do at best could not be measured: ") + error.what());
  }
}

std::uint64_t TaskSearch::search(const SearchTurn& turn) {
  if (turn.trials == 0U) return 0;
  const Clock::time_point start = Clock::now();
  const Active active(*this);
  const Ranks ranks(ranking_.get());
  pipeline_->start(*builder_);
  std::uint64_t trials = 0;
  while (!observer_.must_end()) {
    if (turn.trials && trials >= *turn.trials) break;
    if (trials > 0 && seconds_since(start) > turn.seconds) break;
    const std::optional<Tried> tried = pipeline_->wait(kPollSeconds);
    if (tried) {
      ++trials;
      take(*tried, turn);
    } else if (is_over()) {
      break;
    }
  }
  pipeline_->pause();
  // Trials that have ended in the meantime count too, unless no more may.
  while (!turn.trials) {
    const std::optional<Tried> tried = pipeline_->left();
    if (!tried) break;
    ++trials;
    take(*tried, turn);
  }
  return trials;
}

std::vector<TuneRecord> TaskSearch::rank(std::optional<Clock::time_point> until) {
  const Active active(*this);
  std::vector<TuneRecord> ranked;
  const std::optional<double> by_default =
      finalists_.rank(*builder_, pipeline_->runner(0), runner_task_.default_module, until);
  if (!by_default) return ranked;
  for (const Finalist& finalist : finalists_.all()) {
    if (finalist.log_share >= 0) break;
    const double seconds = *by_default * std::exp(finalist.log_share);
    Tried tried{.point = finalist.point, .trial = {}, .device = device()};
    tried.code = identity(*finalist.module);
    tried.trial.time = MeasuredTime{seconds, seconds, seconds};
    tried.trial.default_time = MeasuredTime{*by_default, *by_default, *by_default};
    ranked.push_back(records_->record_of(tried));
  }
  return ranked;
}

std::optional<double> TaskSearch::time_default() {
  const Active active(*this);
  return pipeline_->runner(0).time_again(runner_task_.default_module);
}

TuneRecord TaskSearch::default_record() const {
  Tried tried{.point = *task_.space_at(PointValues()), .trial = {}, .device = device()};
  tried.code = records_->default_code();
  const double seconds = progress_.default_seconds;
  tried.trial.time = tried.trial.default_time = MeasuredTime{seconds, seconds, seconds};
  return records_->record_of(tried);
}

}  // namespace ferry::tune
