#include "ferry/bench/connection.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>

#include "ferry/error.h"

using namespace ferry;

TEST_CASE("null calls are as many as were asked for, in ascending order, and take no longer than all of it") {
  const Device device = local_device();
  const auto start = std::chrono::steady_clock::now();
  const std::vector<double> seconds = bench::measure_null_calls(device, 50);
  const std::chrono::duration<double> outside = std::chrono::steady_clock::now() - start;
  CHECK(seconds.size() == 50);
  CHECK(std::is_sorted(seconds.begin(), seconds.end()));
  CHECK(seconds.front() > 0);
  double sum = 0;
  for (const double one : seconds) sum += one;
  CHECK(sum <= outside.count());
  CHECK_THROWS_WITH_AS(bench::measure_null_calls(device, 0), "expected at least 1 null call, got 0", UsageError);
}

TEST_CASE("bandwidth is of as many bytes as were asked for, or of as many as it takes") {
  const Device device = local_device();
  const bench::Bandwidth small = bench::measure_bandwidth(device, 1000);
  CHECK(small.bytes == 1000);
  CHECK(small.written_per_second() == doctest::Approx(1000 / small.write_seconds));
  CHECK(small.read_per_second() == doctest::Approx(1000 / small.read_seconds));
  std::vector<std::string> steps;
  Observer observer;
  observer.step = [&](const std::string& what) {
    steps.push_back(what);
    return StepGuard();
  };
  const bench::Bandwidth enough = bench::measure_bandwidth(device, 0, observer);
  CHECK(enough.bytes >= 64 << 10);
  CHECK((enough.write_seconds + enough.read_seconds > 0.05 || enough.bytes == 64 << 20));
  CHECK(steps == std::vector<std::string>{"measuring bandwidth"});
}
