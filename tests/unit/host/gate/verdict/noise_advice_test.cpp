#include "host/gate/verdict/noise_advice.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/host/gate/verdict/simulated_pairs.h"

using namespace ferry;
using namespace ferry::gate;

namespace {

constexpr double kTolerance = 0.02;

std::string advice_about(const test::Draw& log_ratios, double correlation = 0) {
  stats::Random random(11);
  return noise_advice(log_ratios(random, 64), correlation, kTolerance);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("two speeds are told by their distance, whether the ratios form two groups or three") {
  for (const test::Draw& draw :
       {test::two_speeds(0.001, 0.05, 0), test::of_times("", test::two_speeds(0.001, 0.05, 0)).log_ratios}) {
    const std::string advice = advice_about(draw);
    CAPTURE(advice);
    CHECK(contains(advice, "the pairs form groups that are "));
    CHECK((contains(advice, "4.") || contains(advice, "5")));
    CHECK(contains(advice, "fix the frequency"));
  }
  // It is told first, since it may also be what correlates them.
  CHECK(contains(advice_about(test::two_speeds(0.001, 0.05, 0.9), 0.5), "groups"));
}

TEST_CASE("noise that lasts and noise that does not are told apart") {
  CHECK(contains(advice_about(test::normal(0.05), 0.5), "something lasts for several pairs"));
  const std::string noise = advice_about(test::normal(0.05));
  CAPTURE(noise);
  CHECK(contains(noise, "pairs differ by "));
  CHECK(contains(noise, "samples or tolerance"));
}

TEST_CASE("where noise is not the reason there is no advice, nor about a few outliers") {
  CHECK(advice_about(test::normal(0.005)) == "");
  std::vector<double> outliers(62, 0.001);
  outliers.push_back(0.05);
  outliers.push_back(0.06);
  CHECK(noise_advice(outliers, 0, kTolerance) == "");
  CHECK(noise_advice({}, 0, kTolerance) == "");
  const double one[] = {0.5};
  CHECK(noise_advice(one, 0, kTolerance) == "");
}
