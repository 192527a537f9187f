#include "host/tune/search/modelled_points.h"

#include "base/parallel_for.h"
#include "host/tune/search/search.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

namespace ferry::tune {

namespace {

constexpr int kDraws = 32;
constexpr std::size_t kDescents = 3;
constexpr int kMostRounds = 24;  // more draws for one point, where values decide which other knobs there are

// So many points are resolved before their costs are asked for: the code of either then stays in the caches, which
// saves a tenth of the time. More would need much memory for what was decided at them.
constexpr std::size_t kAtOnce = 64;
// The neighbours of so many points are listed together.
constexpr std::size_t kCentersAtOnce = 16;

class Pool {
 public:
  // Values, and the point that they lead to.
  struct Drawn {
    PointValues values;
    std::optional<SpacePoint> point;
  };

  Pool(const SpaceAt& space, Costs& costs, std::uint64_t most, Ranking how)
      : space_(space), costs_(costs), most_(most), how_(how) {}

  bool is_full() const { return points_.size() >= most_; }
  // Adds the points that were not known before and have costs, in this order, until the pool is full.
  void add(std::span<const PointValues> all) {
    std::vector<const PointValues*> untried;
    for (const PointValues& values : all) {
      if (is_full()) return;
      // To resolve a point takes longer than to look it up.
      if (!tried_.insert(values).second) continue;
      untried.push_back(&values);
      if (untried.size() < kAtOnce) continue;
      add_untried(untried);
      untried.clear();
    }
    add_untried(untried);
  }

  // Adds the neighbours of the points in this part of the pool.
  void add_neighbours(std::size_t first, std::size_t end) {
    std::vector<PointValues> neighbours;
    for (std::size_t center = first; center < end; ++center) {
      const SpacePoint& point = points_[center].point;
      const PointValues values = values_of(point);
      for (const PointKnob& knob : point.knobs)
        for (const std::string& candidate : choices_of(knob)) {
          PointValues& neighbour = neighbours.emplace_back(values);
          neighbour[knob_name(knob)] = candidate;
          if (tried_.contains(neighbour)) neighbours.pop_back();
        }
    }
    add(neighbours);
  }

  // Moves to the cheapest neighbour until none is cheaper.
  void descend(std::size_t start) {
    while (!is_full() && expanded_.insert(start).second) {
      const std::size_t first = points_.size();
      add_neighbours(start, start + 1);
      std::size_t next = start;
      for (std::size_t i = first; i < points_.size(); ++i)
        if (points_[i].cost < points_[next].cost) next = i;
      start = next;
    }
  }

  // A value that is drawn may lead to other knobs, whose values are then drawn too. The default must have been added.
  Drawn draw(stats::Random& random) const {
    PointValues values;
    std::optional<SpacePoint> point = points_.front().point;
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
    return {std::move(values), std::move(point)};
  }

  // As above.
  void add(std::vector<Drawn> drawn) {
    std::vector<std::optional<SpacePoint>> found;
    for (Drawn& one : drawn)
      if (tried_.insert(one.values).second) found.push_back(std::move(one.point));
    add_found(found);
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
  void add_untried(std::span<const PointValues* const> all) {
    std::vector<std::optional<SpacePoint>> found(all.size());
    const auto resolve = [&](std::size_t i) { found[i] = space_(*all[i]); };
    if (how_ == Ranking::parallel)
      parallel_for(all.size(), resolve);
    else
      for (std::size_t i = 0; i < all.size(); ++i) resolve(i);
    add_found(found);
  }

  void add_found(std::span<std::optional<SpacePoint>> found) {
    std::vector<SpacePoint*> fresh;
    for (std::optional<SpacePoint>& point : found)
      if (point && seen_.insert(values_in_order(*point)).second) fresh.push_back(&*point);
    if (how_ == Ranking::parallel) costs_.learn(std::vector<const SpacePoint*>(fresh.begin(), fresh.end()));
    for (SpacePoint* point : fresh) {
      if (is_full()) return;
      const std::optional<double> cost = costs_.of(*point);
      if (!cost) continue;
      point->decided.reset();
      tried_.insert(values_of(*point));
      points_.push_back({*cost, std::move(*point)});
    }
  }

  const SpaceAt& space_;
  Costs& costs_;
  std::uint64_t most_;
  Ranking how_;
  std::vector<ModelledPoint> points_;
  std::set<PointValues> tried_;
  std::set<std::vector<std::string>> seen_;
  std::set<std::size_t> expanded_;
};

}  // namespace

std::optional<double> Costs::of(const SpacePoint& point) {
  const auto [known, is_new] = known_.try_emplace(values_in_order(point));
  if (!is_new) return known->second;
  const std::optional<double>* same = alike(point);
  known->second = same != nullptr ? *same : cost_(point);
  if (point.decided && same == nullptr) by_schedule_.emplace(point.schedule, known->second);
  return known->second;
}

const std::optional<double>* Costs::alike(const SpacePoint& point) const {
  // The text of a schedule of the user's own is the same at all points.
  if (!point.decided) return nullptr;
  const auto found = by_schedule_.find(point.schedule);
  return found == by_schedule_.end() ? nullptr : &found->second;
}

void Costs::learn(std::span<const SpacePoint* const> points) {
  std::vector<const SpacePoint*> unknown;
  std::set<std::string_view> schedules;
  for (const SpacePoint* point : points) {
    if (known_.contains(values_in_order(*point)) || alike(*point) != nullptr) continue;
    if (!point->decided || schedules.insert(point->schedule).second) unknown.push_back(point);
  }
  std::vector<std::optional<double>> costs(unknown.size());
  parallel_for(unknown.size(), [&](std::size_t i) { costs[i] = cost_(*unknown[i]); });
  for (std::size_t i = 0; i < unknown.size(); ++i) {
    known_.emplace(values_in_order(*unknown[i]), costs[i]);
    if (unknown[i]->decided) by_schedule_.emplace(unknown[i]->schedule, costs[i]);
  }
}

std::vector<ModelledPoint> modelled_points(const SpaceAt& space, Costs& costs, stats::Random& random,
                                           RankingLimits limits, Ranking how) {
  const std::optional<SpacePoint> first = space({});
  if (!first) return {};
  const bool is_whole = first->points <= limits.whole;
  // Values that lead to other knobs may make a space larger than it is at the default.
  Pool pool(space, costs, is_whole ? std::numeric_limits<std::uint64_t>::max() : limits.most, how);
  pool.add(std::vector<PointValues>(1));
  if (pool.size() == 0) return {};
  if (is_whole) {
    for (std::size_t begin = 0; begin < pool.size();) {
      const std::size_t end = std::min(begin + kCentersAtOnce, pool.size());
      pool.add_neighbours(begin, end);
      begin = end;
    }
    return pool.take();
  }
  std::vector<Pool::Drawn> drawn;
  for (int i = 0; i < kDraws; ++i) drawn.push_back(pool.draw(random));
  pool.add(std::move(drawn));
  pool.descend(0);
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
