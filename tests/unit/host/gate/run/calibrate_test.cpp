// Tests of calibrating on this machine but by the rounds of the kernels: that these differ by the planted slowdown, and
// what is left of a calibration that ends early.
#include "host/gate/run/calibrate.h"

#include <doctest/doctest.h>

#include "ferry/error.h"
#include "tests/unit/host/gate/run/times_by_rounds.h"
#include "tests/unit/host/kernel/own_compiler.h"

using namespace ferry;
using namespace ferry::gate;

namespace {

Calibration calibrate_here(std::vector<double> slowdowns, std::uint32_t runs, const Observer& observer) {
  CalibrateRequest request{.compiler = *test::own_compiler(), .runs = runs, .slowdowns = std::move(slowdowns)};
  request.tolerance = 0.1;
  request.error_level = 0.4;
  request.measure = test::times_by_rounds("r in 0:rounds+", 400);
  return calibrate(request, [](const ConnectOptions& options) { return local_device(options); }, observer);
}

// Calls `then` when the second run of the second slowdown begins.
Observer at_second_run(const std::function<void()>& then) {
  Observer observer;
  observer.step = [then](const std::string& what) -> StepGuard {
    if (what.find("slowdown of 30%, run 2 of 3, pair 1 ") != std::string::npos) then();
    return nullptr;
  };
  return observer;
}

// The measurements of a calibration with slowdowns of 0 and 30% and three runs each, until its fifth run.
void check_first_four(const Calibration& found) {
  REQUIRE(found.slowdowns.size() == 2);
  CHECK(found.slowdowns[0].runs == 3);
  CHECK(found.slowdowns[0].no_change == 3);
  const CalibratedSlowdown& slower = found.slowdowns[1];
  CHECK(slower.runs == 1);
  CHECK(slower.slower == 1);
  CHECK(slower.mean_ratio == doctest::Approx(1.3).epsilon(0.001));
  CHECK(slower.mean_pairs >= 4);
  CHECK(!found.environment.processor.empty());
}

}  // namespace

TEST_CASE("a calibration that is interrupted has what was measured until then") {
  bool is_asked = false;
  Observer observer = at_second_run([&] { is_asked = true; });
  observer.is_interrupted = [&] { return is_asked; };
  const Calibration found = calibrate_here({0, 0.3, 0.5}, 3, observer);
  CHECK(found.is_interrupted);
  CHECK(found.failure == nullptr);
  check_first_four(found);
}

TEST_CASE("a calibration whose board is lost has what was measured until then, and the error") {
  const auto lose = [] { throw Error(ErrorCode::unavailable, "the board is gone"); };
  const Calibration found = calibrate_here({0, 0.3, 0.5}, 3, at_second_run(lose));
  CHECK_FALSE(found.is_interrupted);
  REQUIRE(found.failure != nullptr);
  CHECK_THROWS_WITH(std::rethrow_exception(found.failure), "the board is gone");
  check_first_four(found);
}

TEST_CASE("a calibration that has measured nothing has no lines") {
  Observer observer;
  observer.is_interrupted = [] { return true; };
  const Calibration found = calibrate_here({0, 0.3}, 3, observer);
  CHECK(found.is_interrupted);
  CHECK(found.slowdowns.empty());
}
