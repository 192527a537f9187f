#include "host/measure/sweep.h"

#include <doctest/doctest.h>

#include "ferry/kernel/option_error.h"
#include "tests/unit/host/kernel/own_compiler.h"

using namespace ferry;
using bench::parse_sweep;

namespace {

using Values = std::vector<std::string>;

KernelSource matmul(const std::string& schedule) {
  KernelOptions options;
  options.expression = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }";
  options.schedule.text = schedule;
  return read_kernel(test::own_compiler(), options);
}

std::vector<bench::SweepPoint> points(const std::vector<std::string>& texts, const KernelSource& kernel) {
  std::vector<bench::Sweep> sweeps;
  for (const std::string& text : texts) sweeps.push_back(parse_sweep(text));
  return bench::points_of(sweeps, kernel);
}

}  // namespace

TEST_CASE("a sweep doubles, adds or lists") {
  CHECK(parse_sweep("N=2^3..2^6").values == Values{"8", "16", "32", "64"});
  CHECK(parse_sweep("N=2^3..2^6").name == "N");
  CHECK(parse_sweep("M=100..350").values == Values{"100", "200"});
  CHECK(parse_sweep("M=100..300+100").values == Values{"100", "200", "300"});
  CHECK(parse_sweep("M=1,7,64").values == Values{"1", "7", "64"});
  CHECK(parse_sweep("M=1,2^5").values == Values{"1", "32"});
  CHECK(parse_sweep("M=5").values == Values{"5"});
  CHECK(parse_sweep("layout=row,column").values == Values{"row", "column"});
  CHECK(parse_sweep("$rows=4").name == "rows");
  CHECK(parse_sweep("rows").values.empty());
}

TEST_CASE("a sweep that is empty, grows without end or has a range from 0 is refused as it was written") {
  for (const std::string bad : {"", "N=", "=3", "N=0..5", "N=2^99", "N=1^", "N=1..5x", "N=1,,2", "N=1,"}) {
    CAPTURE(bad);
    const std::string expected = bad + ": expected NAME=2^8..2^24, NAME=100..500+100, NAME=1,7,64, or a knob";
    CHECK_THROWS_WITH_AS(parse_sweep(bad), expected.c_str(), OptionError);
  }
  CHECK_THROWS_WITH_AS(parse_sweep("N=8..2"), "N=8..2: expected a range whose end is not below its start", OptionError);
  CHECK_THROWS_WITH_AS(parse_sweep("N=1..9999999+1"), "N=1..9999999+1: expected at most 1,000 values, got more",
                       OptionError);
}

TEST_CASE("several sweeps make all combinations, of sizes and of knobs") {
  const KernelSource kernel = matmul("split m $rows in {4,8} -> mo mi; parallel mo");
  const auto combined = points({"rows", "M=16,32"}, kernel);
  REQUIRE(combined.size() == 4);
  CHECK(combined[1] == bench::SweepPoint{{"rows", "4"}, {"M", "32"}});
  CHECK(combined[2] == bench::SweepPoint{{"rows", "8"}, {"M", "16"}});
  CHECK(points({}, kernel) == std::vector<bench::SweepPoint>{{}});
  KernelSource one = kernel;
  std::vector<std::string> sizes;
  bench::apply(combined[2], one, sizes);
  CHECK(one.as_text()->schedule->knobs.at("rows") == "8");
  CHECK(sizes == std::vector<std::string>{"M=16"});
}

TEST_CASE("sweeps that name nothing, or the same twice, or too much are refused") {
  const KernelSource kernel = matmul("split m $rows in {4,8} -> mo mi");
  CHECK_THROWS_WITH_AS(points({"M"}, kernel),
                       "M: expected values, as in M=1,7,64, or the name of a knob that the schedule lists choices for",
                       OptionError);
  CHECK_THROWS_WITH_AS(points({"M=1", "M=2"}, kernel), "M: expected one range for it, got another", OptionError);
  CHECK_THROWS_WITH_AS(points({"M=1..1000+1", "N=1,2"}, kernel), "N: expected at most 1,000 measurements, got more",
                       OptionError);
}

TEST_CASE("a sweep over a size takes whole numbers, over sizes of the kernel that are not fixed beside it") {
  const KernelSource kernel = matmul("split m $rows in {4,8} -> mo mi");
  CHECK_THROWS_AS(points({"M=4,four"}, kernel), OptionError);
  CHECK(points({"rows=four"}, kernel).size() == 1);  // the schedule refuses it
  const auto expect = [&](const std::string& text, const std::vector<std::string>& sizes) {
    const std::vector<bench::Sweep> sweeps = {parse_sweep(text)};
    bench::expect_sweepable(sweeps, kernel, "", sizes);
  };
  CHECK_NOTHROW(expect("M=4,8", {"N=2,K=3"}));
  CHECK_NOTHROW(expect("rows", {"M=2,N=2,K=3"}));
  CHECK_THROWS_WITH_AS(expect("m=4,8", {"N=2,K=3"}), "m: mm has no size or knob 'm'; expected one of: M, K, N",
                       OptionError);
  CHECK_THROWS_WITH_AS(expect("M=4,8", {"M=2,N=2"}), "M: expected it as a range or as one size, got both", OptionError);
}
