#include "device-runtime/measure/measure.h"

#include <doctest/doctest.h>
#include <time.h>

#include <cmath>
#include <limits>

#include "device-runtime/measure/clock.h"

namespace ferry::device {
namespace {

// Lasts as long as told, by the clock.
class Busy : public Workload {
 public:
  explicit Busy(std::int64_t nanoseconds) : nanoseconds_(nanoseconds) {}
  std::int32_t run() override {
    ++calls;
    const std::int64_t end = now_ns() + nanoseconds_;
    while (now_ns() < end) {
    }
    return calls == failing_call ? 3 : 0;
  }
  std::uint64_t calls = 0;
  std::uint64_t failing_call = 0;

 private:
  std::int64_t nanoseconds_;
};

MeasureOutcome measured(const MeasurePlan& plan, Workload& workload) {
  auto outcome = measure(plan, workload);
  REQUIRE_MESSAGE(outcome.is_ok(), outcome.status().message());
  return outcome.value();
}

TEST_CASE("number calls make a sample and repeat samples come back") {
  Busy busy(20'000);
  const auto outcome = measured({.number = 5, .repeat = 7}, busy);
  CHECK(outcome.failure == 0);
  CHECK(outcome.measurement.seconds.size() == 7);
  CHECK(outcome.measurement.number == 5);
  CHECK(outcome.measurement.warmup_calls == 0);
  CHECK(busy.calls == 35);
  for (const double seconds : outcome.measurement.seconds) CHECK(seconds >= 19e-6);
}

TEST_CASE("calls are added until a sample lasts min_repeat_ms") {
  Busy busy(10'000);
  const auto outcome = measured({.number = 1, .repeat = 4, .min_repeat_ms = 2}, busy);
  const auto& result = outcome.measurement;
  CHECK(result.seconds.size() == 4);
  CHECK(result.number >= 100);
  CHECK(result.number * 10e-6 < 0.05);
  CHECK(busy.calls >= 4 * result.number / 2 + result.warmup_calls);
  // A sample is a mean, so many calls do not make it longer.
  for (const double seconds : result.seconds) CHECK(seconds < 200e-6);
}

TEST_CASE("warm-up calls last as long as asked and are not samples") {
  Busy busy(1'000'000);
  const auto outcome = measured({.number = 1, .repeat = 2, .warmup_ms = 10}, busy);
  CHECK(outcome.measurement.warmup_calls >= 1);
  CHECK(outcome.measurement.warmup_calls <= 10);
  CHECK(busy.calls == outcome.measurement.warmup_calls + 2);
}

TEST_CASE("a failing call ends the measurement at once") {
  Busy busy(1000);
  busy.failing_call = 12;
  const auto outcome = measured({.number = 5, .repeat = 1000}, busy);
  CHECK(outcome.failure == 3);
  CHECK(busy.calls == 12);
}

TEST_CASE("something that takes no time is not called forever, and no sample is negative") {
  class Nothing : public Workload {
    std::int32_t run() override { return 0; }
  } nothing;
  const auto outcome = measured({.number = 1, .repeat = 1000, .min_repeat_ms = 0.01}, nothing);
  for (const double seconds : outcome.measurement.seconds) CHECK(seconds >= 0);
}

TEST_CASE("plans outside the limits are refused with the limit") {
  Busy busy(0);
  const auto refusal = [&](const MeasurePlan& plan) { return measure(plan, busy).status().message(); };
  CHECK(refusal({.number = 0, .repeat = 1}) == "measure: expected a number of at least 1, got 0");
  CHECK(refusal({.number = 1, .repeat = 0}) == "measure: expected a repeat of 1 to 1000000, got 0");
  CHECK(refusal({.number = 1, .repeat = 2'000'000}) == "measure: expected a repeat of 1 to 1000000, got 2000000");
  CHECK(refusal({.number = 1, .repeat = 1, .min_repeat_ms = -1}) ==
        "measure: expected a min_repeat_ms of 0 to 3600000, got -1");
  CHECK(refusal({.number = 1, .repeat = 1, .warmup_ms = 1e300}) ==
        "measure: expected a warmup_ms of 0 to 3600000, got 1e+300");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(refusal({.number = 1, .repeat = 1, .min_repeat_ms = nan}).empty());
  CHECK(busy.calls == 0);
}

TEST_CASE("the clock goes forward and reading it costs less than a millisecond") {
  const std::int64_t first = now_ns();
  timespec pause{0, 2'000'000};
  nanosleep(&pause, nullptr);
  CHECK(now_ns() - first >= 1'900'000);
  CHECK(clock_overhead_ns() >= 0);
  CHECK(clock_overhead_ns() < 1'000'000);
}

}  // namespace
}  // namespace ferry::device
