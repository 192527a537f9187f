#include "host/measure/baseline.h"

#include <doctest/doctest.h>

#include "ferry/error.h"

using namespace ferry;
using bench::BaselineResult;
using bench::Measurement;

namespace {

const char* const kReport = R"({"schema": "ferry.bench/1", "results": [
  {"function": "mm", "device": "pi", "sizes": {"M": 4}, "knobs": {"rows": "8"}, "median_seconds": 2e-6,
   "interval_95_seconds": [1.9e-6, 2.1e-6]},
  {"function": "mm", "device": "board", "sizes": {"M": 4}, "knobs": {"rows": "8"}, "median_seconds": 4e-6,
   "interval_95_seconds": [4e-6, 4e-6]},
  {"function": "mm", "device": "pi", "sizes": {"M": 5}, "median_seconds": 3e-6, "interval_95_seconds": [3e-6, 3e-6]}],
  "errors": []})";

Measurement measurement(const std::string& device, std::int64_t size, const std::map<std::string, std::string>& knobs,
                        double seconds = 3e-6) {
  Measurement found;
  found.function.name = "mm";
  found.function.sizes = {{"M", size}};
  found.device = device;
  found.knobs = knobs;
  found.timing.seconds = std::vector<double>(20, seconds);
  return found;
}

}  // namespace

TEST_CASE("a result is found by function, sizes and knobs, and by the device where there are several") {
  const std::vector<BaselineResult> baseline = bench::parse_baseline(kReport, "old.json");
  REQUIRE(baseline.size() == 3);
  CHECK(bench::find(baseline, measurement("pi", 4, {{"rows", "8"}})) == &baseline[0]);
  CHECK(bench::find(baseline, measurement("board", 4, {{"rows", "8"}})) == &baseline[1]);
  CHECK(bench::find(baseline, measurement("other", 4, {{"rows", "8"}})) == nullptr);
  CHECK(bench::find(baseline, measurement("other", 5, {})) == &baseline[2]);
  CHECK(bench::find(baseline, measurement("pi", 4, {{"rows", "4"}})) == nullptr);
  CHECK(bench::find(baseline, measurement("pi", 6, {})) == nullptr);
}

TEST_CASE("a change has the ratio of the medians, and an interval from the ends of both") {
  const std::vector<BaselineResult> baseline = bench::parse_baseline(kReport, "old.json");
  const bench::Change slower = bench::change_from(baseline[0], measurement("pi", 4, {}));
  CHECK(slower.ratio == doctest::Approx(1.5));
  CHECK(slower.low == doctest::Approx(3 / 2.1));
  CHECK(slower.high == doctest::Approx(3 / 1.9));
  CHECK(slower.is_slower());
  CHECK(bench::to_text(slower) == "1.50 times the baseline's 2.00 us [1.43, 1.58]: slower");
  CHECK(bench::change_from(baseline[0], measurement("pi", 4, {}, 1e-6)).is_faster());
  const bench::Change same = bench::change_from(baseline[0], measurement("pi", 4, {}, 2e-6));
  CHECK(!same.is_slower());
  CHECK(!same.is_faster());
}

TEST_CASE("times of another method are not compared, and those of earlier versions count as what they were") {
  const auto baseline = [](const std::string& rest) {
    return bench::parse_baseline(R"({"results": [{"function": "mm", "device": "pi", "sizes": {}, "median_seconds": 1,
      "interval_95_seconds": [1, 1])" +
                                     rest + "}]}",
                                 "old.json")
        .at(0);
  };
  Measurement now = measurement("pi", 4, {});
  CHECK(bench::why_incomparable(baseline(""), now) == "");
  CHECK(bench::why_incomparable(baseline(R"(, "cache": "warm")"), now) == "");
  CHECK(bench::why_incomparable(baseline(R"(, "cache": "flushed")"), now) ==
        "expected a time of the same method (inputs repeated, cache warm, isolation none), got one with inputs "
        "repeated, cache flushed, isolation none");
  const std::string stored =
      R"(, "cache": "warm", "method": {"inputs": "fresh", "cache": "warm", "isolation": "notify", "seed": 7})";
  CHECK(bench::why_incomparable(baseline(stored), now)
            .ends_with("got one with inputs fresh, cache warm, isolation notify"));
  now.method = {"fresh", "warm", "notify", 8};
  CHECK(bench::why_incomparable(baseline(stored), now) == "");
}

TEST_CASE("too few samples on either side say nothing of a change") {
  const auto baseline = [](const std::string& rest) {
    return bench::parse_baseline(R"({"results": [{"function": "mm", "device": "pi", "sizes": {"M": 4},
        "median_seconds": 1e-6, )" + rest +
                                     "}]}",
                                 "old.json")
        .at(0);
  };
  const auto expect_doubt = [](const BaselineResult& before, const Measurement& now) {
    const bench::Change change = bench::change_from(before, now);
    CHECK_FALSE(change.is_known());
    CHECK_FALSE(change.is_slower());
    CHECK_FALSE(change.is_faster());
    CHECK(bench::to_text(change) ==
          "3.00 times the baseline's 1.00 us, which says nothing: one of both has fewer than 6 samples");
  };
  const Measurement many = measurement("pi", 4, {});
  expect_doubt(baseline(R"("interval_95_seconds": null)"), many);
  // One sample, as earlier versions printed it.
  expect_doubt(baseline(R"("seconds": [1e-6], "interval_95_seconds": [1e-6, 1e-6])"), many);
  Measurement few = many;
  few.timing.seconds.resize(5);
  expect_doubt(baseline(R"("interval_95_seconds": [1e-6, 1e-6])"), few);
}

TEST_CASE("a text that bench did not print is refused with the file's name") {
  for (const char* text : {"", "{}", "[]", R"({"results": [{}]})",
                           R"({"results": [{"function": "f", "device": "d", "sizes": {}, "median_seconds": 0,
                               "interval_95_seconds": [0, 0]}]})"}) {
    CAPTURE(text);
    try {
      bench::parse_baseline(text, "old.json");
      FAIL("expected a UsageError");
    } catch (const UsageError& error) {
      CHECK(std::string(error.what()).starts_with("old.json: expected what 'ferry bench --json' printed, got "));
      CHECK(std::string(error.what()).find("exception") == std::string::npos);
    }
  }
}
