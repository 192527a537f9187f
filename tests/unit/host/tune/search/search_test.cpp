// Tests the search on spaces whose times a formula gives.
#include "host/tune/search/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace ferry;
using tune::PointValues;
using tune::Search;

namespace {

// Knobs of one stage with the numbers from 0 to `candidates - 1`. The last knob exists only if the first is not 0.
struct Space {
  std::vector<int> candidates;

  SpacePoint at(const PointValues& values) const {
    SpacePoint point{.text = {}, .knobs = {}, .points = points(), .schedule = {}};
    for (std::size_t k = 0; k < candidates.size(); ++k) {
      if (k + 1 == candidates.size() && point.knobs[0].chosen == 0) break;
      PointKnob knob{.stage = "C", .name = "k" + std::to_string(k), .candidates = {}, .has_numbers = true};
      for (int i = 0; i < candidates[k]; ++i) knob.candidates.push_back(std::to_string(i));
      const auto value = values.find("C." + knob.name);
      if (value != values.end()) knob.chosen = static_cast<std::size_t>(std::stoi(value->second));
      point.knobs.push_back(std::move(knob));
    }
    return point;
  }
  tune::SpaceAt function() const {
    return [*this](const PointValues& values) { return std::optional(at(values)); };
  }
  std::size_t points() const {
    std::size_t with_first = 1;
    for (const int count : candidates) with_first *= static_cast<std::size_t>(count);
    const std::size_t last = static_cast<std::size_t>(candidates.back());
    const std::size_t with_zero = with_first / static_cast<std::size_t>(candidates[0]) / last;
    return with_first - with_first / static_cast<std::size_t>(candidates[0]) + with_zero;
  }
};

using Time = std::function<double(const SpacePoint&)>;

// Returns the least time among so many proposals.
double best_of(Search& search, int proposals, const Time& time) {
  double best = HUGE_VAL;
  for (int i = 0; i < proposals; ++i) {
    const std::optional<SpacePoint> point = search.next();
    if (!point) break;
    const double seconds = time(*point);
    best = std::min(best, seconds);
    search.report(*point, {seconds});
  }
  return best;
}

// A valley whose knobs depend on one another, with a wall: some points are much slower.
Time valley(double x, double y, double z) {
  return [=](const SpacePoint& point) {
    const auto at = [&](std::size_t k) { return k < point.knobs.size() ? double(point.knobs[k].chosen) : 3.0; };
    const double a = at(0) - x, b = at(1) - y - 0.5 * a, c = at(2) - z, d = at(3) - 2;
    const double wall = point.knobs[0].chosen % 3 == 1 ? 0.4 : 0;
    return 1 + wall + 0.05 * a * a + 0.04 * b * b + 0.1 * std::abs(c) + 0.02 * d * d;
  };
}

}  // namespace

TEST_CASE("the first proposal is the default, and no point is proposed twice until all of a small space were") {
  const Space space{{4, 3, 5}};
  Search search(space.function(), 1);
  std::set<std::vector<std::string>> seen;
  while (const auto point = search.next()) {
    if (seen.empty()) CHECK(values_in_order(*point) == std::vector<std::string>{"0", "0"});
    CHECK(seen.insert(values_in_order(*point)).second);
    search.report(*point, {1.0 + static_cast<double>(seen.size() % 7)});
  }
  CHECK(seen.size() == space.points());
}

TEST_CASE("equal seeds and times lead to equal proposals, and other seeds to others") {
  const Space space{{9, 9, 9, 9}};
  const auto proposals = [&](std::uint64_t seed) {
    Search search(space.function(), seed);
    std::vector<std::vector<std::string>> all;
    for (int i = 0; i < 80; ++i) {
      const auto point = search.next();
      all.push_back(values_in_order(*point));
      search.report(*point, {valley(4, 5, 6)(*point)});
    }
    return all;
  };
  CHECK(proposals(3) == proposals(3));
  CHECK(proposals(3) != proposals(4));
}

TEST_CASE("what an earlier run has measured is not proposed again, and guides what follows") {
  const Space space{{9, 9, 9, 9}};
  const Time time = valley(6, 3, 2);
  Search search(space.function(), 1);
  const SpacePoint good = space.at({{"C.k0", "6"}, {"C.k1", "3"}, {"C.k2", "2"}, {"C.k3", "2"}});
  search.report(good, {time(good)});
  const SpacePoint failed = space.at({{"C.k0", "6"}, {"C.k1", "3"}, {"C.k2", "2"}, {"C.k3", "3"}});
  search.report(failed, {});
  double best = HUGE_VAL;
  for (int i = 0; i < 30; ++i) {
    const auto point = search.next();
    REQUIRE(point);
    CHECK(values_in_order(*point) != values_in_order(good));
    CHECK(values_in_order(*point) != values_in_order(failed));
    best = std::min(best, time(*point));
    search.report(*point, {time(*point)});
  }
  CHECK(best < 1.2);
}

TEST_CASE("a search finds within 60 proposals what random draws find in four times as many") {
  const Space space{{12, 10, 8, 9}};
  int wins = 0;
  constexpr int kSeeds = 20;
  for (int seed = 0; seed < kSeeds; ++seed) {
    const Time time = valley(seed % 12, (seed * 7) % 10, (seed * 5) % 8);
    Search search(space.function(), static_cast<std::uint64_t>(seed));
    const double found = best_of(search, 60, time);
    stats::Random random(static_cast<std::uint64_t>(seed) + 100);
    double drawn = HUGE_VAL;
    for (int i = 0; i < 240; ++i) {
      PointValues values;
      for (std::size_t k = 0; k < space.candidates.size(); ++k)
        values["C.k" + std::to_string(k)] =
            std::to_string(random.below(static_cast<std::uint64_t>(space.candidates[k])));
      drawn = std::min(drawn, time(space.at(values)));
    }
    wins += found <= drawn * 1.001 ? 1 : 0;
  }
  MESSAGE(wins, " of ", kSeeds, " searches found as much as random draws");
  CHECK(wins >= 15);
}

TEST_CASE("a space whose points all fail comes to an end") {
  const Space space{{3, 3, 2}};
  Search search(space.function(), 1);
  std::size_t count = 0;
  while (const auto point = search.next()) {
    search.report(*point, {});
    ++count;
  }
  CHECK(count >= 1);
  CHECK(count <= space.points());
}

TEST_CASE("where a model's points follow does not depend on how long ranking takes") {
  const Space space{{9, 9, 9, 9}};
  const Time time = valley(6, 3, 2);
  const auto cost = [&](const SpacePoint& point) { return std::optional(time(point)); };
  const auto proposals = [&](int delay) {
    int asked = 0, waited = 0;
    Search search(space.function(), 5, [&]() -> std::optional<tune::Modelled> {
      if (asked++ < delay) return std::nullopt;
      return tune::rank_points(space.function(), cost, 5);
    });
    std::vector<std::vector<std::string>> all;
    while (all.size() < 40) {
      const std::optional<SpacePoint> point = search.next();
      CHECK(search.is_thinking() == !point);
      if (!point) {
        ++waited;
        continue;
      }
      all.push_back(values_in_order(*point));
      search.report(*point, {time(*point)});
    }
    CHECK(waited == delay);
    return all;
  };
  const auto at_once = proposals(0);
  CHECK(proposals(7) == at_once);
  // The model has no errors here, so its first point is the best of the whole space.
  const auto is_best = [](const std::vector<std::string>& values) {
    return values == std::vector<std::string>{"6", "3", "2", "2"};
  };
  CHECK(std::ranges::find_if(at_once, is_best) - at_once.begin() == 8);
}

TEST_CASE("the neighbours of the default are proposed before its time is known") {
  const Space space{{9, 9, 9, 9}};
  Search search(space.function(), 1);
  const SpacePoint first = *search.next();
  for (int i = 0; i < 2; ++i) {
    const SpacePoint next = *search.next();
    int differences = 0;
    for (const PointKnob& knob : first.knobs) {
      const auto other = std::ranges::find(next.knobs, knob.name, &PointKnob::name);
      differences += other == next.knobs.end() || other->chosen != knob.chosen ? 1 : 0;
    }
    CHECK(differences == 1);
  }
}

TEST_CASE("points that are asked for at the same time are ranked as those asked for one after the other") {
  const Space space{{9, 9, 9, 9}};
  const auto cost = [](const SpacePoint& point) { return std::optional(valley(6, 3, 2)(point)); };
  const auto ranked = [&](tune::RankingLimits limits, tune::Ranking how) {
    tune::Costs costs(cost);
    stats::Random random(3);
    std::vector<std::vector<std::string>> values;
    for (const tune::ModelledPoint& one : tune::modelled_points(space.function(), costs, random, limits, how))
      values.push_back(values_in_order(one.point));
    return values;
  };
  // The whole space, descents to their end, and descents that are cut short.
  for (const tune::RankingLimits limits : {tune::RankingLimits{10'000, 0}, {0, 10'000}, {0, 50}}) {
    const auto serial = ranked(limits, tune::Ranking::serial);
    CHECK(ranked(limits, tune::Ranking::parallel) == serial);
    CHECK(serial.size() == (limits.whole > 0 ? space.points() : std::min<std::size_t>(serial.size(), limits.most)));
    CHECK(serial.size() >= 50);
  }
}

TEST_CASE("points at which a compiler has decided on the same directives are asked for once") {
  class Decided final : public DecidedPoint {
   public:
    std::optional<double> estimated_cycles(std::uint32_t) const override { return std::nullopt; }
  };
  SpacePoint points[3];
  const char* const values[] = {"a", "b", "c"};
  for (std::size_t i = 0; i < 3; ++i)
    points[i].knobs.push_back(PointKnob{.stage = "C", .name = "knob", .candidates = {values[i]}});
  for (SpacePoint& point : points) point.schedule = "C: vectorize x";
  for (std::size_t i = 0; i < 2; ++i) points[i].decided = std::make_shared<const Decided>();
  std::atomic<int> asked = 0;
  tune::Costs costs([&](const SpacePoint&) { return std::optional<double>(++asked); });
  const SpacePoint* const all[] = {&points[0], &points[1], &points[2]};
  SUBCASE("one after the other") {}
  SUBCASE("at the same time") { costs.learn(all); }
  CHECK(costs.of(points[0]) == costs.of(points[1]));
  // A schedule of the user's own has the same text at points with different values.
  CHECK(costs.of(points[2]) != costs.of(points[0]));
  CHECK(asked == 2);
}
