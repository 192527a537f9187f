#include "host/tune/runner/running_trial.h"

#include "base/quantity_text.h"
#include "ferry/stats/interval.h"
#include "host/kernel/kernel_failure.h"

#include <algorithm>
#include <utility>

namespace ferry::tune {

namespace {

// A few calls show whether code can win; only what may is measured further.
constexpr BenchOptions kFirstLook{.number = 1, .repeat = 2, .min_repeat_ms = 0.3, .warmup_ms = 0, .timeout_ms = 2'000};
constexpr double kHopeless = 1.3;  // times the best
// A first call also loads code and packs constants; one that took this long says enough by itself.
constexpr double kHopelessOnce = 3, kLeastOnce = 1e-3;

Trial too_slow(double times) {
  return {Outcome::too_slow, "its first calls took " + number_text(times) + " times as long as the best schedule's"};
}

}  // namespace

std::shared_ptr<void> open_window(const TimedWindow& window) {
  if (!window.begin) return nullptr;
  window.begin();
  return {nullptr, [&window](void*) { window.end(); }};
}

BenchOptions measurement_of(double call_seconds) {
  constexpr double kSeconds = 0.03, kLeast = 5, kMost = 12;
  const double samples = std::clamp(kSeconds / std::max(call_seconds, 1e-9), kLeast, kMost);
  return {.number = 1,
          .repeat = static_cast<std::uint32_t>(samples),
          .min_repeat_ms = 1,
          .warmup_ms = 0,
          .timeout_ms = 2'000};
}

MeasuredTime time_of(const std::vector<Timing>& timings) {
  Timing all = timings.front();
  for (std::size_t t = 1; t < timings.size(); ++t)
    all.seconds.insert(all.seconds.end(), timings[t].seconds.begin(), timings[t].seconds.end());
  const stats::Interval interval = stats::median_interval(all.seconds);
  if (interval.is_known()) return {all.median(), interval.low, interval.high};
  return {all.median(), all.minimum(), *std::ranges::max_element(all.seconds)};
}

RunningTrial::RunningTrial(const TrialSession& session, const TimedWindow& window, const ModuleBytes& module,
                           Stage first)
    : session_(&session), window_(&window), code_(session.load(module)), stage_(first) {}

void RunningTrial::send(const ResultLimits& limits) {
  switch (stage_) {
    case Stage::check:
      call_ = session_->send_call(code_);
      differences_ = session_->send_comparisons(limits);
      break;
    case Stage::look:
      open_window_ = open_window(*window_);
      timings_ = session_->send_measurement(code_, kFirstLook);
      break;
    case Stage::measure:
      open_window_ = open_window(*window_);
      timings_ = session_->send_measurement(code_, measurement_of(first_seconds_));
      break;
  }
  last_ = session_->client().last_outstanding();
}

MeasuredTime RunningTrial::take_timing() {
  const std::vector<Timing> timings = timings_.get();
  open_window_.reset();
  busy_seconds_ += timings.front().elapsed_s;
  return time_of(timings);
}

std::optional<Trial> RunningTrial::take_answers(double best_seconds) {
  switch (stage_) {
    case Stage::check: {
      const double once = call_.seconds();
      busy_seconds_ += once;
      if (std::string wrong = session_->difference(differences_); !wrong.empty())
        return Trial{Outcome::wrong, std::move(wrong)};
      if (best_seconds > 0 && once > kHopelessOnce * best_seconds && once > kLeastOnce)
        return too_slow(once / best_seconds);
      stage_ = Stage::look;
      return std::nullopt;
    }
    case Stage::look:
      first_seconds_ = take_timing().low;
      if (best_seconds > 0 && first_seconds_ > kHopeless * best_seconds) return too_slow(first_seconds_ / best_seconds);
      stage_ = Stage::measure;
      return std::nullopt;
    case Stage::measure: return Trial{Outcome::measured, {}, take_timing()};
  }
  return std::nullopt;
}

std::optional<Trial> RunningTrial::take(double best_seconds) {
  try {
    return take_answers(best_seconds);
  } catch (const Error& error) {
    open_window_.reset();
    if (is_in_name_of(error, {code_.info().name})) throw KernelFailed(error.what());
    throw;
  }
}

}  // namespace ferry::tune
