#include "device-runtime/measure/measure.h"

#include "device-runtime/measure/clock.h"
#include "rpc/base/format.h"

#include <algorithm>
#include <cmath>

namespace ferry::device {
namespace {

// A workload that takes no time at all must not be called forever.
constexpr std::uint64_t kMaxNumber = std::uint64_t{1} << 32;

Status check(const MeasurePlan& plan) {
  const auto bad = [](std::string what) { return Status(ErrorCode::invalid_argument, "measure: " + std::move(what)); };
  if (plan.number == 0) return bad("expected a number of at least 1, got 0");
  if (plan.repeat == 0 || plan.repeat > kMaxRepeat) {
    return bad(format("expected a repeat of 1 to %u, got %u", kMaxRepeat, plan.repeat));
  }
  // Written so that not-a-number is refused too.
  if (!(plan.min_repeat_ms >= 0 && plan.min_repeat_ms <= kMaxMilliseconds)) {
    return bad(format("expected a min_repeat_ms of 0 to %.0f, got %g", kMaxMilliseconds, plan.min_repeat_ms));
  }
  if (!(plan.warmup_ms >= 0 && plan.warmup_ms <= kMaxMilliseconds)) {
    return bad(format("expected a warmup_ms of 0 to %.0f, got %g", kMaxMilliseconds, plan.warmup_ms));
  }
  return {};
}

struct Sample {
  std::int32_t failure = 0;
  std::int64_t elapsed_ns = 0;
};

Sample take_sample(Workload& workload, std::uint64_t number) {
  Sample sample;
  const std::int64_t begin = now_ns();
  for (std::uint64_t i = 0; i < number && sample.failure == 0; ++i) sample.failure = workload.run();
  sample.elapsed_ns = std::max<std::int64_t>(now_ns() - begin - clock_overhead_ns(), 0);
  return sample;
}

// How many calls would have lasted long enough: a little more than proportional, and always a step ahead.
std::uint64_t raised(std::uint64_t number, std::int64_t elapsed_ns, std::int64_t wanted_ns) {
  const double factor =
      1.1 * static_cast<double>(wanted_ns) / static_cast<double>(std::max<std::int64_t>(elapsed_ns, 1));
  const double wish = std::ceil(static_cast<double>(number) * std::clamp(factor, 1.25, 1000.0));
  return static_cast<std::uint64_t>(std::min(wish, static_cast<double>(kMaxNumber)));
}

}  // namespace

Result<MeasureOutcome> measure(const MeasurePlan& plan, Workload& workload) {
  FERRY_TRY(check(plan));
  MeasureOutcome outcome;
  Measurement& result = outcome.measurement;
  result.number = plan.number;
  const auto wanted_ns = static_cast<std::int64_t>(plan.min_repeat_ms * 1e6);
  const std::int64_t warm_at = now_ns() + static_cast<std::int64_t>(plan.warmup_ms * 1e6);
  (void)clock_overhead_ns();
  if (plan.warmup_ms > 0) {
    do {
      outcome.failure = workload.run();
      ++result.warmup_calls;
      if (outcome.failure != 0) return outcome;
    } while (now_ns() < warm_at);
  }
  result.seconds.reserve(plan.repeat);
  while (result.seconds.size() < plan.repeat) {
    const Sample sample = take_sample(workload, result.number);
    outcome.failure = sample.failure;
    if (outcome.failure != 0) return outcome;
    if (sample.elapsed_ns < wanted_ns && result.number < kMaxNumber) {
      // Too short to count: what it ran was warm-up.
      result.warmup_calls += result.number;
      result.number = raised(result.number, sample.elapsed_ns, wanted_ns);
      continue;
    }
    result.seconds.push_back(static_cast<double>(sample.elapsed_ns) * 1e-9 / static_cast<double>(result.number));
  }
  return outcome;
}

}  // namespace ferry::device
