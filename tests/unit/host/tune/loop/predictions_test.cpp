// Tests the cost model's estimates of what a search has measured, and the device's peaks for it.
#include "host/tune/report/predictions.h"

#include "crosscompile/target/resolve.h"
#include "host/tune/static_ranking.h"
#include "host/tune/tuned_task.h"
#include "tests/unit/host/tune/loop/tuned_product.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <memory>

using namespace ferry;
using tune::MeasuredTime;
using tune::Outcome;
using tune::Predictions;
using tune::ShownTrial;
using tune::Tuned;

namespace {

const char* const kBoard = "raspberry-pi-4";

Tuned tuned_for(const std::string& target, const tune::TuneOptions& options) {
  Tuned tuned;
  tuned.task =
      std::make_shared<const tune::TunedTask>(tune::task_of({test::product(), "mm"}, resolve_target(target), options));
  return tuned;
}

tune::TuneOptions small_product() {
  tune::TuneOptions options;
  options.call.sizes = {"M=37,N=16,K=20"};
  return options;
}

ShownTrial trial_at(const SpacePoint& point, double seconds) {
  ShownTrial trial;
  trial.record.values = values_in_order(point);
  trial.record.time = MeasuredTime{seconds, seconds, seconds};
  trial.record.default_time = MeasuredTime{3e-3, 3e-3, 3e-3};
  return trial;
}

}  // namespace

TEST_CASE("measured points have the estimates by which a space is ranked, others have none") {
  tune::TuneOptions options = small_product();
  options.trials = 100'000;
  options.has_trials_limit = true;
  const tune::StaticRanking ranking =
      tune::rank_statically({test::product(), "mm"}, resolve_target(kBoard), options, 5);
  REQUIRE(ranking.best.size() == 5);
  Tuned tuned = tuned_for(kBoard, small_product());
  std::vector<ShownTrial> trials;
  for (std::size_t i = 0; i < 5; ++i)
    trials.push_back(trial_at(ranking.best[i].point, 1e-3 * static_cast<double>(i + 1)));
  trials[1].record.outcome = Outcome::wrong;
  trials[1].record.time.reset();
  tuned.best = trials[2].record;
  const Predictions found = tune::predictions_of(tuned, trials);
  CHECK(found.missing.empty());
  REQUIRE(found.points.size() == 4);
  for (const auto& [point, place] : {std::pair(0, 0), {1, 2}, {2, 3}, {3, 4}}) {
    CHECK(found.points[point].cycles == ranking.best[place].cycles);
    CHECK(found.points[point].share == doctest::Approx((place + 1) / 3.0));
  }
  REQUIRE(found.by_default.has_value());
  CHECK(found.by_default->cycles == ranking.by_default.cycles);
  CHECK(found.by_default->share == 1);
  REQUIRE(found.best.has_value());
  CHECK(found.best->cycles == ranking.best[2].cycles);
}

TEST_CASE("targets and open sizes that the cost model does not know have no estimates, and the page says so") {
  tune::TuneOptions open = small_product();
  open.open_sizes = true;
  for (const Tuned& tuned : {tuned_for(kBoard, open), tuned_for("cuda", small_product())}) {
    const std::optional<SpacePoint> point = tuned.task->space_at(tune::PointValues());
    REQUIRE(point.has_value());
    const Predictions found = tune::predictions_of(tuned, {trial_at(*point, 1e-3)});
    CHECK(found.points.empty());
    CHECK_FALSE(found.by_default.has_value());
    CHECK(found.missing.find("has no estimates") != std::string::npos);
  }
}

TEST_CASE("without measured points there is nothing to estimate") {
  const Predictions found = tune::predictions_of(tuned_for(kBoard, small_product()), {});
  CHECK(found.points.empty());
  CHECK(found.missing.empty());
}

TEST_CASE("the device's peaks are known to the first trial and to the result, if they were asked for") {
  const test::RecordsFile file;
  tune::TuneOptions options = test::quick(file);
  options.trials = 2;
  std::size_t without = 0;
  options.on_trial = [&](const tune::TuneRecord&, const tune::Progress& progress) { without += !progress.roofline; };
  CHECK_FALSE(tune::tune(test::this_machine(), {test::product(), {}, {}}, options).progress.roofline.has_value());
  CHECK(without == 2);
  without = 0;
  options.peak = true;
  const Tuned tuned = tune::tune(test::this_machine(), {test::product(), {}, {}}, options);
  CHECK(without == 0);
  REQUIRE(tuned.progress.roofline.has_value());
  CHECK(tuned.progress.roofline->flops == 2.0 * 37 * 64 * 40);
  CHECK(tuned.progress.roofline->bytes == 4.0 * (37 * 40 + 40 * 64 + 37 * 64));
  REQUIRE(tuned.best.time.has_value());
  CHECK(tuned.progress.roofline->share(tuned.best.time->seconds) < 1.5);
  CHECK(tuned.progress.roofline->share(tuned.best.time->seconds) > 0.001);
}
