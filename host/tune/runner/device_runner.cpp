#include "host/tune/runner/device_runner.h"

#include "base/quantity_text.h"
#include "ferry/stats/interval.h"
#include "host/client/contents.h"
#include "host/kernel/kernel_failure.h"
#include "host/verify/element_text.h"
#include "host/verify/output_comparison.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace ferry::tune {

namespace {

// A few calls show whether code can win; only what may is measured further.
constexpr BenchOptions kFirstLook{.number = 1, .repeat = 2, .min_repeat_ms = 0.3, .warmup_ms = 0, .timeout_ms = 2'000};
constexpr double kHopeless = 1.3;  // times the best
// A first call also loads code and packs constants; one that took this long says enough by itself.
constexpr double kHopelessOnce = 3, kLeastOnce = 1e-3;
// The default is measured again after so many trials, because a device is not as fast at all times.
constexpr unsigned kTrialsPerDefault = 24;
// In seconds. Code that takes a multiple of the default's time hangs. If even the default takes longer than the least
// deadline, it has the longest.
constexpr double kLeastDeadline = 1, kLongestDeadline = 60, kDefaultsInDeadline = 60;
constexpr int kMostAttempts = 5;  // to reach a device that is gone
// What the outputs hold before a trial.
constexpr std::uint64_t kPoisonSeed = 0x9e3779b97f4a7c15;

// Returns the options for a measurement of code whose call takes about so long: more samples of short calls.
BenchOptions measured(double call_seconds) {
  constexpr double kSeconds = 0.03, kLeast = 5, kMost = 12;
  const double samples = std::clamp(kSeconds / std::max(call_seconds, 1e-9), kLeast, kMost);
  return {.number = 1,
          .repeat = static_cast<std::uint32_t>(samples),
          .min_repeat_ms = 1,
          .warmup_ms = 0,
          .timeout_ms = 2'000};
}

bool is_tensor(const ParameterInfo& parameter) { return parameter.kind == ParameterKind::tensor; }
bool is_written(const ParameterInfo& parameter) { return is_tensor(parameter) && parameter.direction != Direction::in; }

Trial too_slow(double times) {
  return {Outcome::too_slow, "its first calls took " + number_text(times) + " times as long as the best schedule's"};
}

MeasuredTime time_of(const Timing& timing) {
  const stats::Interval interval = stats::median_interval(timing.seconds);
  if (interval.is_known()) return {timing.median(), interval.low, interval.high};
  return {timing.median(), timing.minimum(), *std::ranges::max_element(timing.seconds)};
}

}  // namespace

struct DeviceRunner::Session {
  Device device;
  ArgumentSets inputs;                     // in each set one for each parameter that is read; of those that are written
                                           // too, a trial gets copies
  std::vector<DeviceTensor> results = {};  // the default's, one for each parameter that is written

  // Returns arguments with tensors of their own where the code writes, for each set.
  ArgumentSets arguments(const RunnerTask& task) const {
    ArgumentSets all;
    for (const std::vector<Argument>& set : inputs) all.push_back(arguments(task, set));
    return all;
  }

  std::vector<Argument> arguments(const RunnerTask& task, const std::vector<Argument>& set) const {
    std::vector<Argument> all;
    std::size_t next = 0;
    for (std::size_t p = 0; p < task.info.parameters.size(); ++p) {
      const ParameterInfo& parameter = task.info.parameters[p];
      if (is_written(parameter) && parameter.direction == Direction::out) {
        all.push_back(device.filled(task.plan.dtypes[p], task.plan.shapes[p], FillKind::random, kPoisonSeed));
        continue;
      }
      const Argument& input = set[next++];
      const auto* tensor = std::get_if<DeviceTensor>(&input.value());
      all.push_back(is_written(parameter) && tensor != nullptr ? Argument(tensor->copy_to(device)) : input);
    }
    return all;
  }
};

DeviceRunner::DeviceRunner(KeptSession& kept, const RunnerTask& task, Observer observer,
                           std::function<void()> begin_window, std::function<void()> end_window)
    : kept_(kept),
      task_(task),
      observer_(std::move(observer)),
      begin_window_(std::move(begin_window)),
      end_window_(std::move(end_window)),
      deadline_(kLeastDeadline) {}

DeviceRunner::~DeviceRunner() = default;

std::size_t sets_in_turns(std::uint64_t set_bytes, std::uint64_t cache_bytes) {
  constexpr std::uint64_t kMost = 8;  // calls that a device measures in turns
  if (set_bytes == 0 || set_bytes >= cache_bytes) return 1;
  const std::uint64_t sets = (cache_bytes + set_bytes - 1) / set_bytes + 1;
  return sets <= kMost ? static_cast<std::size_t>(sets) : 1;
}

MeasuredTime DeviceRunner::measure(const Function& function, const ArgumentSets& sets, const BenchOptions& options) {
  BenchOptions bench = options;
  if (sets.size() > 1) {
    // A sample of several calls would find what its first one has read. As many samples are taken as of one set.
    bench.min_repeat_ms = 0;
    bench.repeat = std::max(2U, bench.repeat / static_cast<std::uint32_t>(sets.size()));
  }
  bench.cores = task_.cores;
  bench.threads = task_.threads;
  struct Window {
    const std::function<void()>&begin, &end;
    Window(const std::function<void()>& b, const std::function<void()>& e) : begin(b), end(e) {
      if (begin) begin();
    }
    ~Window() {
      if (end) end();
    }
  };
  const Window window(begin_window_, end_window_);
  std::vector<TimedCall> calls;
  for (const std::vector<Argument>& arguments : sets) calls.push_back({function, arguments});
  const std::vector<Timing> timings = measure_in_turns(calls, bench);
  Timing all = timings.front();
  for (std::size_t t = 1; t < timings.size(); ++t)
    all.seconds.insert(all.seconds.end(), timings[t].seconds.begin(), timings[t].seconds.end());
  return time_of(all);
}

// A failure of the default's own is the result of each trial later.
void DeviceRunner::begin() {
  (void)with_session([&]() -> Trial {
    (void)session();
    return {};
  });
}

void DeviceRunner::rest() {
  session_.reset();
  // Other code ran in the meantime, and the device may be as fast as another one now.
  trials_ = kTrialsPerDefault;
}

// The session has ended, or is not to be trusted any more.
void DeviceRunner::forget() {
  session_.reset();
  kept_.close();
}

DeviceRunner::Session& DeviceRunner::session() {
  while (!session_)
    if (!prepare()) session_.reset();
  return *session_;
}

// Returns false if calls take too long for this session.
bool DeviceRunner::prepare() {
  const Device device = kept_.open(task_.devices, deadline_);
  session_ = std::make_unique<Session>(Session{device, {}});
  environment_ = {{"processor", device.processor()}};
  const std::uint64_t bytes = traffic_bytes(task_.info, task_.plan.shapes);
  for (std::size_t sets = sets_in_turns(bytes, task_.cache_bytes); sets > 0; --sets)
    session_->inputs.push_back(make_arguments(task_.info, task_.plan, device));
  const Function function = device.load(CompiledModule(task_.default_module))[task_.info.name];
  const std::vector<Argument> arguments = session_->arguments(task_, session_->inputs.front());
  function.call(arguments);
  device.synchronize();
  const double needed = kDefaultsInDeadline * static_cast<double>(function.last_elapsed_ns()) * 1e-9;
  if (!default_time_ && needed > deadline_) {
    deadline_ = needed;
    return false;
  }
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    if (!is_written(task_.info.parameters[p])) continue;
    const auto& result = session_->results.emplace_back(std::get<DeviceTensor>(arguments[p].value()));
    if (limits_.size() >= session_->results.size()) continue;
    std::vector<std::uint8_t> bytes_of_result(result.bytes());
    result.read(bytes_of_result.data());
    limits_.push_back(verify::applied_limits(result.dtype(), bytes_of_result, bytes_of_result, {}));
  }
  if (!default_time_) {
    const ArgumentSets sets = session_->arguments(task_);
    default_time_ = measure(function, sets, measured(measure(function, sets, kFirstLook).low));
  }
  return true;
}

std::string DeviceRunner::difference(const std::vector<Argument>& arguments) const {
  std::size_t next = 0;
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    if (!is_written(task_.info.parameters[p])) continue;
    const std::size_t o = next++;
    const auto& found = std::get<DeviceTensor>(arguments[p].value());
    const auto& [rtol, atol] = limits_[o];
    const auto differs = session::compare_tensors(found, session_->results[o], rtol, atol);
    if (!differs || differs->different == 0) continue;
    return verify::position_text(task_.info.parameters[p].name, found.shape(), differs->first) +
           " differs from what the default schedule computes, as do " + std::to_string(differs->different) + " of " +
           std::to_string(found.elements()) + " elements";
  }
  return {};
}

Trial DeviceRunner::run_in_session(const ModuleBytes& module, double best_seconds) {
  Session& session = this->session();
  if (++trials_ > kTrialsPerDefault) {
    const Function function = session.device.load(CompiledModule(task_.default_module))[task_.info.name];
    const ArgumentSets arguments = session.arguments(task_);
    measure(function, arguments, kFirstLook);
    default_time_ = measure(function, arguments, measured(default_time_->seconds));
    trials_ = 1;
  }
  const Function function = session.device.load(CompiledModule(module))[task_.info.name];
  const ArgumentSets sets = session.arguments(task_);
  const std::vector<Argument>& arguments = sets.front();
  const double once = run_kernel(session.device, {task_.info.name}, [&] {
    function.call(arguments);
    session.device.synchronize();
    return static_cast<double>(function.last_elapsed_ns()) * 1e-9;
  });
  if (std::string wrong = difference(arguments); !wrong.empty()) return {Outcome::wrong, std::move(wrong)};
  if (best_seconds > 0 && once > kHopelessOnce * best_seconds && once > kLeastOnce)
    return too_slow(once / best_seconds);
  const MeasuredTime first = measure(function, sets, kFirstLook);
  if (best_seconds > 0 && first.low > kHopeless * best_seconds) return too_slow(first.low / best_seconds);
  return {Outcome::measured, {}, measure(function, sets, measured(first.low))};
}

Trial DeviceRunner::with_session(const std::function<Trial()>& work) {
  for (int attempt = 1;; ++attempt) {
    try {
      Trial trial = work();
      trial.default_time = default_time_;
      return trial;
    } catch (const KernelFailed& error) {
      forget();
      return {Outcome::crashed, error.what(), {}, default_time_};
    } catch (const Error& error) {
      forget();
      const bool is_its_fault = is_failure_of_kernel(error) || may_be_hang(error);
      if (is_its_fault && default_time_) {
        const bool is_late = error.code() == ErrorCode::deadline_exceeded;
        return {is_late ? Outcome::hung : Outcome::crashed, error.what(), {}, default_time_};
      }
      if (is_its_fault && error.code() == ErrorCode::deadline_exceeded && deadline_ < kLongestDeadline) {
        deadline_ = kLongestDeadline;
        continue;
      }
      const auto* exceeded = dynamic_cast<const LimitExceeded*>(&error);
      const bool may_come_back = error.code() == ErrorCode::unavailable || error.code() == ErrorCode::busy ||
                                 (exceeded != nullptr && exceeded->limit() != TimeLimit::call);
      if (!may_come_back || attempt == kMostAttempts || observer_.must_end()) throw;
      observer_.tell(kept_.name() + ": " + error.what() + "; trying again");
      std::this_thread::sleep_for(std::chrono::seconds(attempt));
    }
  }
}

Trial DeviceRunner::run(const ModuleBytes& module, double best_seconds) {
  return with_session([&] { return run_in_session(module, best_seconds); });
}

std::optional<double> DeviceRunner::time_again(const ModuleBytes& module) {
  const Trial trial = with_session([&]() -> Trial {
    Session& session = this->session();
    const Function function = session.device.load(CompiledModule(module))[task_.info.name];
    BenchOptions options = measured(default_time_->seconds);
    options.isolated = true;
    return {Outcome::measured, {}, measure(function, session.arguments(task_), options)};
  });
  return trial.time ? std::optional(trial.time->low) : std::nullopt;
}

}  // namespace ferry::tune
