#include "host/stats/summary.h"

#include <doctest/doctest.h>

#include "ferry/stats/interval.h"
#include "host/stats/convergence.h"
#include "host/stats/outliers.h"
#include "host/stats/student_t.h"
#include "tests/unit/host/stats/noise_models.h"

namespace ferry::stats {
namespace {

TEST_CASE("median, deviation and percentiles of small sets are what one computes by hand") {
  CHECK(median(std::vector<double>{}) == 0);
  CHECK(median(std::vector<double>{4}) == 4);
  CHECK(median(std::vector<double>{4, 1, 3, 2}) == 2.5);
  CHECK(median_deviation(std::vector<double>{1, 1, 2, 2, 4, 6, 9}) == 1);
  const std::vector<double> ascending = {10, 20, 30, 40, 50};
  CHECK(quantile_of_sorted(ascending, 0) == 10);
  CHECK(quantile_of_sorted(ascending, 1) == 50);
  CHECK(quantile_of_sorted(ascending, 0.25) == 20);
  CHECK(quantile_of_sorted(ascending, 0.9) == doctest::Approx(46));
}

TEST_CASE("outliers are labelled by Tukey's fences, every sample keeps its place") {
  const std::vector<double> samples = {10, 11, 12, 13, 14, 30, 21, -9, 3};
  const auto labels = label_outliers(samples);
  REQUIRE(labels.size() == samples.size());
  CHECK(labels[0] == OutlierLabel::none);
  CHECK(labels[5] == OutlierLabel::high_severe);
  CHECK(labels[6] == OutlierLabel::high_mild);
  CHECK(labels[7] == OutlierLabel::low_severe);
  CHECK(labels[8] == OutlierLabel::low_mild);
  CHECK(std::string(to_text(labels[5])) == "high severe");
  CHECK(std::string(to_text(labels[0])).empty());
}

TEST_CASE("Student's quantiles are those of the printed tables") {
  CHECK(student_t_quantile(0.975, 1) == doctest::Approx(12.7062).epsilon(1e-5));
  CHECK(student_t_quantile(0.975, 8) == doctest::Approx(2.30600).epsilon(1e-5));
  CHECK(student_t_quantile(0.995, 9) == doctest::Approx(3.24984).epsilon(1e-5));
  CHECK(student_t_quantile(0.995, 30) == doctest::Approx(2.75000).epsilon(1e-5));
  CHECK(std::abs(student_t_quantile(0.5, 5)) < 1e-6);
  CHECK(student_t_quantile(0.025, 8) == doctest::Approx(-2.30600).epsilon(1e-5));
  CHECK(student_t_cdf(0, 3) == doctest::Approx(0.5));
}

TEST_CASE("uncertainty shrinks with the number of samples, and a drift is told from noise") {
  Random random(11);
  const auto few = test::spiky(random, 20), many = test::spiky(random, 2000);
  CHECK(relative_uncertainty(many) < relative_uncertainty(few));
  CHECK(relative_uncertainty(many) < 0.01);
  CHECK(std::isinf(relative_uncertainty(std::vector<double>{1, 2, 3})));
  std::vector<double> warming = many;
  for (std::size_t i = 0; i < warming.size(); ++i) warming[i] *= 1 + 0.3 * static_cast<double>(i) / 2000;
  CHECK(drift(warming) == doctest::Approx(0.19).epsilon(0.1));
  CHECK(std::abs(drift(many)) < 0.02);
  CHECK(drift(std::vector<double>{1, 2}) == 0);
}

}  // namespace
}  // namespace ferry::stats
