// Tests of the options that a device is given, and of the choice of its cores.
#include "host/measure/sampling.h"
#include "host/measure/cores.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "ferry/bench/environment.h"
#include "ferry/error.h"
#include "ferry/kernel/option_error.h"

using namespace ferry;
using bench::CoreKind;
using bench::cores_by_strength;

TEST_CASE("big and little cores are told by capacity, or else by frequency") {
  using Cores = std::vector<std::uint32_t>;
  const std::vector<std::string> capacities = {"446\n", "446\n", "1024\n", "1024\n", "", "", "", ""};
  CHECK(cores_by_strength(capacities, CoreKind::big) == Cores{2, 3});
  CHECK(cores_by_strength(capacities, CoreKind::little) == Cores{0, 1});
  CHECK(cores_by_strength(capacities, CoreKind::any).empty());
  CHECK(cores_by_strength({"", "", "1800000\n", "1200000\n"}, CoreKind::big) == Cores{0});
  CHECK(cores_by_strength({"inf", "nan", "1800000\n", "1200000\n"}, CoreKind::big) == Cores{0});
}

TEST_CASE("cores are written as numbers and ranges, or as a kind, which replaces what was set before") {
  bench::SamplingOptions options;
  bench::set_cores("0,2-4", options);
  CHECK(options.bench.cores == std::vector<std::uint32_t>{0, 2, 3, 4});
  CHECK(options.cores == CoreKind::any);
  bench::set_cores("big", options);
  CHECK(options.bench.cores.empty());
  CHECK(options.cores == CoreKind::big);
  bench::set_cores("little", options);
  CHECK(options.cores == CoreKind::little);
  bench::set_cores("any", options);
  CHECK(options.cores == CoreKind::any);
  for (const char* bad : {"", "a", "1-", "4-2", "1,,2", "99999999", "Big"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(bench::set_cores(bad, options), OptionError);
  }
}

TEST_CASE("a device without cores of two kinds has neither big nor little ones") {
  CHECK_THROWS_WITH_AS(
      cores_by_strength({"", "", "", ""}, CoreKind::big),
      "expected a device with big and little cores to choose the big ones, got cores that are all alike", OptionError);
  CHECK_THROWS_WITH_AS(cores_by_strength({}, CoreKind::little),
                       "expected a device with big and little cores to choose the little ones, got cores that are all "
                       "alike",
                       OptionError);
}

TEST_CASE("cold caches mean one call a sample") {
  const Device device = local_device();
  bench::SamplingOptions sampling;
  sampling.bench.number = 0;
  sampling.bench.cold = true;
  const BenchOptions cold = bench::options_for(sampling, device);
  CHECK(cold.number == 1);
  CHECK(cold.min_repeat_ms == 0);
  sampling.bench.number = 4;
  CHECK_THROWS_WITH_AS(bench::options_for(sampling, device),
                       "cold caches with 4 calls a sample: the second call of a sample would find the caches warm",
                       UsageError);
}

TEST_CASE("the files of the environment are watched beside those of the caller") {
  const Device device = local_device();
  bench::SamplingOptions sampling;
  sampling.bench.watch = {"/proc/version"};
  sampling.bench.cores = {0};
  const BenchOptions options = bench::options_for(sampling, device);
  CHECK(options.watch.front() == "/proc/version");
  CHECK(std::count(options.watch.begin(), options.watch.end(), "/proc/loadavg") == 1);
  CHECK(options.watch.size() == 1 + bench::watched_paths().size());
  CHECK(options.cores == std::vector<std::uint32_t>{0});
}

TEST_CASE("a kind of cores and their numbers exclude each other") {
  bench::SamplingOptions sampling;
  sampling.bench.cores = {0};
  sampling.cores = CoreKind::big;
  CHECK_THROWS_WITH_AS(bench::options_for(sampling, local_device()),
                       "expected either a kind of cores or their numbers, got both", UsageError);
}
