#include "host/tune/search/modelled_points.h"

#include "host/tune/search/search.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>

namespace ferry::tune {

namespace {

constexpr int kDraws = 32;
constexpr std::size_t kDescents = 3;
constexpr int kMostRounds = 24;  // more draws for one point, where values decide which other knobs there are

class Pool {
 public:
  Pool(const SpaceAt& space, Costs& costs, std::uint64_t most) : space_(space), costs_(costs), most_(most) {}

  bool is_full() const { return points_.size() >= most_; }
  // Returns the place of a point that was not known before and has a cost; nothing if the pool is full.
  std::optional<std::size_t> add(const PointValues& values) {
    if (is_full()) return std::nullopt;
    // To resolve a point takes longer than to look it up.
    if (!tried_.insert(values).second) return std::nullopt;
    std::optional<SpacePoint> point = space_(values);
    if (!point || !seen_.insert(values_in_order(*point)).second) return std::nullopt;
    const std::optional<double> cost = costs_.of(*point);
    if (!cost) return std::nullopt;
    point->decided.reset();
    tried_.insert(values_of(*point));
    points_.push_back({*cost, *std::move(point)});
    return points_.size() - 1;
  }

  void add_neighbours(std::size_t center) {
    const PointValues values = values_of(points_[center].point);
    const std::vector<PointKnob> knobs = points_[center].point.knobs;
    for (const PointKnob& knob : knobs) {
      PointValues neighbour = values;
      for (const std::string& candidate : choices_of(knob)) {
        neighbour[knob_name(knob)] = candidate;
        add(neighbour);
      }
    }
  }

  // Moves to the cheapest neighbour until none is cheaper.
  void descend(std::size_t start) {
    while (!is_full() && expanded_.insert(start).second) {
      const std::size_t first = points_.size();
      add_neighbours(start);
      std::size_t next = start;
      for (std::size_t i = first; i < points_.size(); ++i)
        if (points_[i].cost < points_[next].cost) next = i;
      start = next;
    }
  }

  // A value that is drawn may lead to knobs of which none was drawn yet.
  void draw(stats::Random& random) {
    PointValues values;
    std::optional<SpacePoint> point = space_(values);
    for (int round = 0; point && round < kMostRounds; ++round) {
      bool is_new = false;
      for (const PointKnob& knob : point->knobs) {
        const std::span choices = choices_of(knob);
        if (!values.try_emplace(knob_name(knob), choices[random.below(choices.size())]).second) continue;
        is_new = true;
      }
      if (!is_new) break;
      point = space_(values);
    }
    add(values);
  }

  std::vector<std::size_t> cheapest(std::size_t count) const {
    std::vector<std::size_t> order(points_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return points_[i].cost; });
    order.resize(std::min(count, order.size()));
    return order;
  }
  std::size_t size() const { return points_.size(); }

  std::vector<ModelledPoint> take() {
    std::ranges::stable_sort(points_, {}, &ModelledPoint::cost);
    return std::move(points_);
  }

 private:
  const SpaceAt& space_;
  Costs& costs_;
  std::uint64_t most_;
  std::vector<ModelledPoint> points_;
  std::set<PointValues> tried_;
  std::set<std::vector<std::string>> seen_;
  std::set<std::size_t> expanded_;
};

}  // namespace

std::optional<double> Costs::of(const SpacePoint& point) {
  const auto [known, is_new] = known_.try_emplace(values_in_order(point));
  if (is_new) known->second = cost_(point);
  return known->second;
}

std::vector<ModelledPoint> modelled_points(const SpaceAt& space, Costs& costs, stats::Random& random,
                                           RankingLimits limits) {
  const std::optional<SpacePoint> first = space({});
  if (!first) return {};
  const bool is_whole = first->points <= limits.whole;
  // Values that lead to other knobs may make a space larger than it is at the default.
  Pool pool(space, costs, is_whole ? std::numeric_limits<std::uint64_t>::max() : limits.most);
  const std::optional<std::size_t> start = pool.add({});
  if (!start) return {};
  if (is_whole) {
    for (std::size_t center = 0; center < pool.size(); ++center) pool.add_neighbours(center);
    return pool.take();
  }
  for (int i = 0; i < kDraws; ++i) pool.draw(random);
  pool.descend(*start);
  for (const std::size_t place : pool.cheapest(kDescents)) pool.descend(place);
  return pool.take();
}

Modelled rank_points(const SpaceAt& space, const PointCost& cost, std::uint64_t seed) {
  Modelled modelled{Costs(cost), {}};
  stats::Random random(~seed);
  modelled.points = modelled_points(space, modelled.costs, random);
  return modelled;
}

TakeModelled rank_at_once(SpaceAt space, PointCost cost, std::uint64_t seed) {
  return [space = std::move(space), cost = std::move(cost), seed] {
    return std::optional(rank_points(space, cost, seed));
  };
}

}  // namespace ferry::tune
