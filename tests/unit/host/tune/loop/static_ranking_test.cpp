// Tests the ranking of a space by the cost model, and by the machine code of its best schedules.
#include "host/tune/static_ranking.h"

#include "crosscompile/target/resolve.h"
#include "ferry/kernel/option_error.h"
#include "host/tune/tuned_task.h"
#include "tests/unit/host/tune/loop/tuned_product.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>

using namespace ferry;
using tune::StaticRanking;

namespace {

StaticRanking ranked(const std::string& target, const std::string& sizes, std::uint64_t trials = 0,
                     std::size_t count = 5) {
  tune::TuneOptions options;
  options.call.sizes = {sizes};
  options.trials = trials;
  options.has_trials_limit = trials > 0;
  return tune::rank_statically({test::product(), "mm"}, resolve_target(target), options, count);
}

double order_of(const tune::RankedPoint& point) { return point.code_cycles.value_or(point.cycles); }

}  // namespace

TEST_CASE("boards that are not there have a ranking of schedules, the fastest first") {
  for (const char* target : {"raspberry-pi-3", "raspberry-pi-4", "raspberry-pi-5", "riscv64-v"}) {
    CAPTURE(target);
    const StaticRanking ranking = ranked(target, "M=256,N=256,K=256", 1);
    CHECK(ranking.sizes.at("M") == 256);
    CHECK(ranking.estimated > 64);  // descents come by as many at least
    CHECK(ranking.estimated <= ranking.points);
    REQUIRE(ranking.best.size() == 5);
    CHECK(std::ranges::is_sorted(ranking.best, {}, order_of));
    CHECK(order_of(ranking.best.front()) <= order_of(ranking.by_default));
    CHECK_FALSE(ranking.best.front().point.text.empty());
    // No core of these has more than eight multiply-adds of four floats a cycle in its four threads.
    CHECK(order_of(ranking.best.front()) > 256.0 * 256 * 256 / 32);
  }
}

TEST_CASE("the best schedules are ranked by their machine code where LLVM has a good model of the core") {
  for (const char* target : {"raspberry-pi-4", "raspberry-pi-5"}) {
    CAPTURE(target);
    const StaticRanking ranking = ranked(target, "M=64,N=64,K=64", 1, 1000);
    CHECK(ranking.by_default.code_cycles.has_value());
    std::map<std::string, double> compiled;  // by their directives
    std::size_t known = 0;
    for (const tune::RankedPoint& one : ranking.best) {
      if (!one.code_cycles) continue;
      ++known;
      const auto [place, is_new] = compiled.try_emplace(one.point.schedule, *one.code_cycles);
      CHECK(place->second == *one.code_cycles);
    }
    // The default may be one of them.
    CHECK(compiled.size() >= tune::kCompiledSchedules);
    CHECK(compiled.size() <= tune::kCompiledSchedules + 1);
    REQUIRE(known < ranking.best.size());
    const std::span<const tune::RankedPoint> all = ranking.best, by_code = all.first(known),
                                             others = all.subspan(known);
    CHECK(std::ranges::all_of(by_code, [](const auto& one) { return one.code_cycles.has_value(); }));
    CHECK(std::ranges::is_sorted(by_code, {}, [](const auto& one) { return *one.code_cycles; }));
    CHECK(std::ranges::is_sorted(others, {}, &tune::RankedPoint::cycles));
    CHECK(std::ranges::max(by_code, {}, &tune::RankedPoint::cycles).cycles <= others.front().cycles);
  }
  const StaticRanking without = ranked("raspberry-pi-3", "M=64,N=64,K=64", 1, 1000);
  CHECK_FALSE(without.by_default.code_cycles.has_value());
  CHECK(std::ranges::none_of(without.best, [](const auto& one) { return one.code_cycles.has_value(); }));
}

TEST_CASE("a ranking is the same each time, and all of a small space is in it") {
  const StaticRanking a = ranked("raspberry-pi-4", "M=37,N=16,K=20", 100'000),
                      b = ranked("raspberry-pi-4", "M=37,N=16,K=20", 100'000);
  CHECK(a.estimated == a.points);
  REQUIRE(a.best.size() == b.best.size());
  for (std::size_t i = 0; i < a.best.size(); ++i) CHECK(a.best[i].point.text == b.best[i].point.text);
}

TEST_CASE("what was decided at a point has the estimate of the point's values, on which the compiler decides again") {
  tune::TuneOptions options;
  options.call.sizes = {"M=37,N=48,K=20"};
  const tune::TunedTask task = tune::task_of({test::product(), "mm"}, resolve_target("raspberry-pi-4"), options);
  for (const char* tile : {"4x2", "3x1"}) {
    std::optional<SpacePoint> point = task.space_at(tune::PointValues{{"C.tile", tile}});
    REQUIRE(point.has_value());
    REQUIRE(point->decided != nullptr);
    const std::optional<double> decided = task.cycles_at(*point);
    point->decided.reset();
    REQUIRE(decided.has_value());
    CHECK(decided == task.cycles_at(*point));
  }
}

TEST_CASE("with one thread a ranking leaves alone how threads share out the work") {
  tune::TuneOptions options;
  options.call.sizes = {"M=64,N=64,K=64"};
  const auto points_with = [&](std::uint32_t threads) {
    options.threads = threads;
    const tune::StaticRanking ranking =
        tune::rank_statically({test::product(), "mm"}, resolve_target("raspberry-pi-4"), options, 1'000'000);
    const bool are_all = std::ranges::all_of(ranking.best, [](const tune::RankedPoint& one) {
      return one.point.text.find("parallel=no") == std::string::npos &&
             one.point.text.find("loops=0") == std::string::npos;
    });
    CHECK(are_all == (threads == 1));
    return ranking.estimated;
  };
  CHECK(points_with(1) < points_with(4));
}

TEST_CASE("what the model does not know is refused") {
  CHECK_THROWS_WITH_AS(ranked("opencl", "M=64,N=64,K=64"), doctest::Contains("expected a CPU as the target"), Error);
  tune::TuneOptions options;
  options.call.sizes = {"M=64,N=64,K=64"};
  options.open_sizes = true;
  CHECK_THROWS_WITH_AS(tune::rank_statically({test::product(), "mm"}, resolve_target("raspberry-pi-4"), options, 5),
                       doctest::Contains("expected fixed sizes"), Error);
}
