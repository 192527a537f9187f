#include "host/tune/runner/device_runner.h"

#include "host/kernel/kernel_failure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

namespace ferry::tune {

namespace {

using Clock = std::chrono::steady_clock;

// The default is measured again after so many trials, because a device is not as fast at all times.
constexpr unsigned kTrialsPerDefault = 24;
// In seconds. Code that takes a multiple of the default's time hangs. If even the default takes longer than the least
// deadline, it has the longest.
constexpr double kLeastDeadline = 1, kLongestDeadline = 60, kDefaultsInDeadline = 60;
constexpr int kMostAttempts = 5;  // to reach a device that is gone
// A trial's own part of the mean of how long trials keep the device busy.
constexpr double kNewest = 0.1;

bool is_its_own(const Error& error) { return is_failure_of_kernel(error) || may_be_hang(error); }

}  // namespace

std::size_t trials_on_their_way(double round_trip_seconds, double busy_seconds) {
  // The stages of a trial wait for each other. Those of different trials take different times, so one more is there.
  constexpr double kStages = 3, kLeastBusy = 1e-3, kMost = 12;
  const double others = std::ceil(kStages * round_trip_seconds / std::max(busy_seconds, kLeastBusy));
  return static_cast<std::size_t>(std::min(2 + others, kMost));
}

DeviceRunner::DeviceRunner(KeptSession& kept, const RunnerTask& task, Observer observer, TimedWindow window)
    : kept_(kept), task_(task), observer_(std::move(observer)), window_(std::move(window)), deadline_(kLeastDeadline) {}

DeviceRunner::~DeviceRunner() = default;

// A failure of the default's own is thrown by each call that needs it.
void DeviceRunner::begin() {
  for (int attempt = 1;; ++attempt) {
    try {
      (void)session();
      return;
    } catch (const Error& error) {
      forget();
      if (!default_time_ && is_its_own(error) && error.code() == ErrorCode::deadline_exceeded &&
          deadline_ < kLongestDeadline) {
        deadline_ = kLongestDeadline;
        continue;
      }
      pause_after(error, attempt);
    }
  }
}

void DeviceRunner::pause_after(const Error& error, int attempt) {
  const auto* exceeded = dynamic_cast<const LimitExceeded*>(&error);
  const bool may_come_back = error.code() == ErrorCode::unavailable || error.code() == ErrorCode::busy ||
                             (exceeded != nullptr && exceeded->limit() != TimeLimit::call) ||
                             (default_time_ && is_its_own(error));  // what ran before may have broken the session
  if (!may_come_back || attempt >= kMostAttempts || observer_.must_end()) {
    drop_waiting();
    throw;
  }
  observer_.tell(kept_.name() + ": " + error.what() + "; trying again");
  std::this_thread::sleep_for(std::chrono::seconds(attempt));
}

void DeviceRunner::rest() {
  end_session();
  drop_waiting();
  // Other code ran in the meantime, and the device may be as fast as another one now.
  trials_ = kTrialsPerDefault;
}

// The session has ended, or is not to be trusted any more.
void DeviceRunner::forget() {
  end_session();
  kept_.close();
}

void DeviceRunner::end_session() {
  running_.clear();
  lost_ = nullptr;
  session_.reset();
}

void DeviceRunner::drop_waiting() {
  waiting_.clear();
  suspects_ = 0;
}

TrialSession& DeviceRunner::session() {
  while (!session_)
    if (!prepare()) session_.reset();
  return *session_;
}

// Returns false if calls take too long for this session.
bool DeviceRunner::prepare() {
  const Device device = kept_.open(task_.devices, deadline_);
  session_ = std::make_unique<TrialSession>(device, task_);
  environment_ = {{"processor", device.processor()}};
  const double seconds = session_->call_default(session_->load(task_.default_module));
  const Clock::time_point asked = Clock::now();
  device.synchronize();
  const double round_trip = std::chrono::duration<double>(Clock::now() - asked).count();
  round_trip_ = round_trip_ == 0 ? round_trip : std::min(round_trip_, round_trip);
  const double needed = kDefaultsInDeadline * seconds;
  if (!default_time_ && needed > deadline_) {
    deadline_ = needed;
    return false;
  }
  limits_ = session_->limits(std::move(limits_));
  if (!default_time_) measure_default();
  return true;
}

void DeviceRunner::measure_default() {
  RunningTrial trial(*session_, window_, task_.default_module, RunningTrial::Stage::look);
  std::optional<Trial> measured;
  while (!measured) {
    trial.send(limits_);
    measured = trial.take(0);
  }
  default_time_ = measured->time;
  busy_ = trial.busy_seconds();
}

std::size_t DeviceRunner::most_running() const {
  if (window_.begin || suspects_ > 0) return 1;
  return trials_on_their_way(round_trip_, busy_);
}

void DeviceRunner::submit(std::uint64_t number, std::shared_ptr<const ModuleBytes> module) {
  waiting_.push_back({number, std::move(module)});
}

void DeviceRunner::start_waiting() {
  while (!waiting_.empty() && running_.size() < most_running()) {
    if (trials_ >= kTrialsPerDefault) {
      trials_ = 0;
      start(std::nullopt);
      continue;
    }
    ++trials_;
    Submitted next = std::move(waiting_.front());
    waiting_.pop_front();
    start(std::move(next));
  }
}

void DeviceRunner::start(std::optional<Submitted> submitted) {
  const bool is_default = !submitted;
  try {
    running_.push_back(
        {submitted, RunningTrial(*session_, window_, is_default ? task_.default_module : *submitted->module,
                                 is_default ? RunningTrial::Stage::look : RunningTrial::Stage::check)});
  } catch (const Error&) {
    if (submitted) waiting_.push_front(*std::move(submitted));
    throw;
  }
  try {
    running_.back().trial.send(limits_);
  } catch (const Error&) {
    Running unsent = std::move(running_.back());
    running_.pop_back();
    repeat(std::move(unsent));
    throw;
  }
}

void DeviceRunner::repeat(Running running) {
  if (running.submitted)
    waiting_.push_front(*std::move(running.submitted));
  else
    trials_ = kTrialsPerDefault;
}

void DeviceRunner::lose_link() {
  lost_ = std::current_exception();
  if (!session_->client().is_open()) return;
  // A request that cannot be sent over an open link can never be sent.
  forget();
  drop_waiting();
  throw;
}

void DeviceRunner::receive_until(const RunningTrial& trial, std::chrono::milliseconds most) {
  session::Client& client = session_->client();
  try {
    while (!trial.has_arrived() && client.wait_for_input(most)) client.receive_next();
  } catch (const Error&) {
    // The session has ended. Each answer says so.
  }
}

std::optional<EndedTrial> DeviceRunner::wait(double best_seconds, std::chrono::milliseconds most) {
  if (waiting_.empty() && running_.empty()) return std::nullopt;
  if (!session_) begin();
  if (!lost_) {
    try {
      start_waiting();
    } catch (const Error&) {
      lose_link();
    }
  }
  if (running_.empty()) {
    open_again();
    return std::nullopt;
  }
  receive_until(running_.front().trial, most);
  if (!running_.front().trial.has_arrived()) return std::nullopt;
  Running running = std::move(running_.front());
  running_.pop_front();
  try {
    if (std::optional<Trial> ended = running.trial.take(running.submitted ? best_seconds : 0))
      return end(running, *std::move(ended));
  } catch (const Error& error) {
    return fail(std::move(running), error);
  }
  try {
    if (!lost_) running.trial.send(limits_);
  } catch (const Error&) {
    lose_link();
  }
  if (lost_)
    repeat(std::move(running));
  else
    running_.push_back(std::move(running));
  return std::nullopt;
}

// All that was sent has been answered, and nothing more can be sent.
void DeviceRunner::open_again() {
  try {
    std::rethrow_exception(lost_);
  } catch (const Error& error) {
    forget();
    pause_after(error, ++attempts_);
  }
}

std::optional<EndedTrial> DeviceRunner::end(const Running& ended, Trial trial) {
  attempts_ = 0;
  if (!ended.submitted) {
    default_time_ = trial.time;
    return std::nullopt;
  }
  if (suspects_ > 0) --suspects_;
  busy_ += kNewest * (ended.trial.busy_seconds() - busy_);
  trial.default_time = default_time_;
  return EndedTrial{ended.submitted->number, std::move(trial)};
}

std::optional<EndedTrial> DeviceRunner::fail(Running running, const Error& error) {
  const bool was_alone = running_.empty();
  // The order in which they were submitted stays.
  while (!running_.empty()) {
    Running other = std::move(running_.back());
    running_.pop_back();
    repeat(std::move(other));
  }
  if (running.submitted && is_its_own(error)) {
    forget();
    attempts_ = 0;
    if (suspects_ > 0) --suspects_;
    const Outcome outcome = error.code() == ErrorCode::deadline_exceeded ? Outcome::hung : Outcome::crashed;
    return EndedTrial{running.submitted->number, {outcome, error.what(), {}, default_time_}};
  }
  repeat(std::move(running));
  suspects_ = waiting_.size();
  forget();
  // One by one they may have enough memory.
  if (was_alone || error.code() != ErrorCode::resource_exhausted) pause_after(error, ++attempts_);
  return std::nullopt;
}

std::optional<double> DeviceRunner::time_again(const ModuleBytes& module) {
  for (int attempt = 1;; ++attempt) {
    begin();
    try {
      BenchOptions options = measurement_of(default_time_->seconds);
      options.isolated = true;
      const std::shared_ptr<void> window = open_window(window_);
      return time_of(session_->send_measurement(session_->load(module), options).get()).low;
    } catch (const Error& error) {
      forget();
      if (is_its_own(error)) return std::nullopt;
      pause_after(error, attempt);
    }
  }
}

}  // namespace ferry::tune
