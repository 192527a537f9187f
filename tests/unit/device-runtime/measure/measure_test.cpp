#include "device-runtime/measure/measure.h"

#include <doctest/doctest.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "device-runtime/measure/clock.h"

namespace ferry::device {
namespace {

// A workload that takes the given time by the clock.
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

struct Outcome {
  Failure failure;
  Evaluation evaluation;
  const Samples& only() const { return evaluation.calls.at(0); }
};

Outcome measured(const BenchOptions& plan, const std::vector<Workload*>& workloads) {
  Outcome outcome;
  SampleHooks nothing;
  const auto failure = measure(plan, workloads, nothing, outcome.evaluation);
  REQUIRE_MESSAGE(failure.is_ok(), failure.status().message());
  outcome.failure = failure.value();
  return outcome;
}

BenchOptions plan_of(std::uint32_t number, std::uint32_t repeat, double min_repeat_ms = 0, double warmup_ms = 0) {
  BenchOptions plan;
  plan.number = number;
  plan.repeat = repeat;
  plan.min_repeat_ms = min_repeat_ms;
  plan.warmup_ms = warmup_ms;
  return plan;
}

TEST_CASE("number calls make a sample and repeat samples come back") {
  Busy busy(20'000);
  const auto outcome = measured(plan_of(5, 7), {&busy});
  CHECK(outcome.failure.result == 0);
  CHECK(outcome.only().seconds.size() == 7);
  CHECK(outcome.only().number == 5);
  CHECK(outcome.only().warmup_calls == 0);
  CHECK(busy.calls == 35);
  for (const double seconds : outcome.only().seconds) CHECK(seconds >= 19e-6);
}

// Takes longer in its first call than in all others.
class SlowToBegin : public Workload {
 public:
  std::int32_t run() override {
    const std::int64_t end = now_ns() + (calls++ == 0 ? 3'000'000 : 10'000);
    while (now_ns() < end) {
    }
    return 0;
  }
  std::uint64_t calls = 0;
};

TEST_CASE("the first call that warms up is timed apart from all others, and without one there is no such time") {
  SlowToBegin first, second;
  const auto warm = measured(plan_of(1, 5, 0, 0.1), {&first, &second}).evaluation;
  for (const Samples& samples : warm.calls) {
    CHECK(samples.first_s >= 3e-3);
    CHECK(*std::ranges::min_element(samples.seconds) < 3e-3);
  }
  SlowToBegin again;
  CHECK(measured(plan_of(1, 5), {&again}).only().first_s == 0);
}

TEST_CASE("calls are added until a sample lasts min_repeat_ms") {
  Busy busy(10'000);
  const auto outcome = measured(plan_of(1, 4, 2), {&busy});
  const auto& result = outcome.only();
  CHECK(result.seconds.size() == 4);
  CHECK(result.number >= 100);
  CHECK(result.number * 10e-6 < 0.05);
  CHECK(busy.calls >= 4 * result.number / 2 + result.warmup_calls);
  // A sample is a mean, so it does not grow with the number of calls.
  CHECK(*std::min_element(result.seconds.begin(), result.seconds.end()) < 200e-6);
}

TEST_CASE("without a number the batch is as long as the clock's resolution asks for") {
  Busy busy(100);
  const auto outcome = measured(plan_of(0, 3), {&busy});
  CHECK(outcome.evaluation.environment.clock_resolution_ns >= 1);
  const double wanted = 1000.0 * static_cast<double>(outcome.evaluation.environment.clock_resolution_ns) * 1e-9;
  for (const double seconds : outcome.only().seconds) {
    CHECK(seconds * static_cast<double>(outcome.only().number) >= wanted);
  }
  CHECK(outcome.only().number > 1);
}

TEST_CASE("warm-up calls last as long as asked and are not samples") {
  Busy busy(1'000'000);
  const auto outcome = measured(plan_of(1, 2, 0, 10), {&busy});
  CHECK(outcome.only().warmup_calls >= 1);
  CHECK(outcome.only().warmup_calls <= 10);
  CHECK(busy.calls == outcome.only().warmup_calls + 2);
}

TEST_CASE("several workloads take turns, in the opposite order every other round") {
  std::string order;
  class Named : public Workload {
   public:
    Named(std::string& order, char name) : order_(order), name_(name) {}
    std::int32_t run() override {
      order_ += name_;
      return 0;
    }

   private:
    std::string& order_;
    char name_;
  };
  Named a(order, 'a'), b(order, 'b');
  const auto outcome = measured(plan_of(1, 4), {&a, &b});
  CHECK(order == "abbaabba");
  CHECK(outcome.evaluation.calls[0].seconds.size() == 4);
  CHECK(outcome.evaluation.calls[1].seconds.size() == 4);
}

TEST_CASE("a failing call ends the measurement at once and says which workload it was") {
  Busy fine(1000), busy(1000);
  busy.failing_call = 12;
  const auto outcome = measured(plan_of(5, 1000), {&fine, &busy});
  CHECK(outcome.failure.result == 3);
  CHECK(outcome.failure.workload == 1);
  CHECK(busy.calls == 12);
}

TEST_CASE("rounds are added until the median is known well enough, and no more") {
  Busy steady(50'000);
  BenchOptions plan = plan_of(1, 10);
  plan.max_repeat = 5000;
  plan.tolerance = 0.2;
  const auto outcome = measured(plan, {&steady});
  CHECK(outcome.evaluation.environment.ended == TimingEnd::converged);
  CHECK(outcome.only().seconds.size() >= 10);
  CHECK(outcome.only().seconds.size() < 5000);
  plan.tolerance = 0;
  plan.max_repeat = 30;
  const auto all = measured(plan, {&steady});
  CHECK(all.evaluation.environment.ended == TimingEnd::all_samples);
  CHECK(all.only().seconds.size() == 30);
}

TEST_CASE("no round starts after the timeout, and one is always made") {
  Busy busy(5'000'000);
  BenchOptions plan = plan_of(1, 1000);
  plan.timeout_ms = 30;
  const auto outcome = measured(plan, {&busy});
  CHECK(outcome.evaluation.environment.ended == TimingEnd::timeout);
  CHECK(outcome.only().seconds.size() >= 1);
  CHECK(outcome.only().seconds.size() <= 8);
}

TEST_CASE("the device rests before each round when asked") {
  Busy busy(1000);
  BenchOptions plan = plan_of(1, 5);
  plan.cooldown_ms = 10;
  CHECK(measured(plan, {&busy}).evaluation.environment.elapsed_s >= 0.05);
}

TEST_CASE("what a sample was disturbed by comes with it") {
  Busy busy(1'000'000);
  const auto outcome = measured(plan_of(1, 5), {&busy});
  CHECK(outcome.only().switches.size() == 5);
  CHECK(outcome.only().cores.size() == 5);
  for (const std::uint32_t core : outcome.only().cores) CHECK(core < 4096);
}

TEST_CASE("in cold mode caches are emptied before every sample") {
  class Cooler : public SampleHooks {
   public:
    void cool(std::size_t) override { ++cooled; }
    int cooled = 0;
  } hooks;
  Busy busy(1000);
  Workload* const workloads[] = {&busy};
  BenchOptions plan = plan_of(1, 6);
  plan.cold = true;
  Evaluation into;
  REQUIRE(measure(plan, workloads, hooks, into).is_ok());
  CHECK(hooks.cooled == 6);
  plan.number = 2;
  CHECK(measure(plan, workloads, hooks, into).status().message().find("cold mode") != std::string::npos);
}

TEST_CASE("something that takes no time is not called forever, and no sample is negative") {
  class Nothing : public Workload {
    std::int32_t run() override { return 0; }
  } nothing;
  const auto outcome = measured(plan_of(1, 1000, 0.01), {&nothing});
  for (const double seconds : outcome.only().seconds) CHECK(seconds >= 0);
}

TEST_CASE("plans outside the limits are refused with the limit") {
  Busy busy(0);
  const auto refusal = [&](const BenchOptions& plan) {
    Workload* const workloads[] = {&busy};
    SampleHooks nothing;
    Evaluation into;
    return measure(plan, workloads, nothing, into).status().message();
  };
  CHECK(refusal(plan_of(1, 0)) == "measure: expected a repeat of 1 to 1000000, got 0");
  CHECK(refusal(plan_of(1, 2'000'000)) == "measure: expected a repeat of 1 to 1000000, got 2000000");
  CHECK(refusal(plan_of(1, 1, -1)) == "measure: expected a min_repeat_ms of 0 to 3600000, got -1");
  CHECK(refusal(plan_of(1, 1, 0, 1e300)) == "measure: expected a warmup_ms of 0 to 3600000, got 1e+300");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(refusal(plan_of(1, 1, nan)).empty());
  BenchOptions plan = plan_of(1, 1);
  plan.tolerance = 1.5;
  CHECK(refusal(plan) == "measure: expected a tolerance of 0 to 1, got 1.5");
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
