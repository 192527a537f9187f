// The points of a space that a cost model prefers, found without running anything.
#pragma once

#include "host/stats/random.h"
#include "host/tune/search/searcher.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ferry::tune {

// Returns how long a call takes at a point as a cost model sees it, in a unit of its own; nothing if it does not know.
using PointCost = std::function<std::optional<double>(const SpacePoint& point)>;

// A point with its cost.
struct ModelledPoint {
  double cost = 0;
  SpacePoint point;
};

// Remembers what points cost. Points at which the compiler has decided on the same directives cost the same.
class Costs {
 public:
  explicit Costs(PointCost cost) : cost_(std::move(cost)) {}
  bool is_known() const { return cost_ != nullptr; }
  std::optional<double> of(const SpacePoint& point);
  // Asks for the costs of several points at the same time, on all processors.
  void learn(std::span<const SpacePoint* const> points);
  // Takes another function for points that are not known yet.
  void ask(PointCost cost) { cost_ = std::move(cost); }

 private:
  PointCost cost_;
  // Returns the cost of a point with the same directives, or null.
  const std::optional<double>* alike(const SpacePoint& point) const;

  std::map<std::vector<std::string>, std::optional<double>> known_;  // by values in order
  std::map<std::string, std::optional<double>> by_schedule_;         // decided points
};

// How many points are ranked.
struct RankingLimits {
  std::uint64_t whole = 0;  // all points of spaces with up to so many
  std::uint64_t most = 0;   // so many points of larger spaces
};
// While a search tries its first points, at up to a few milliseconds for each that is ranked.
inline constexpr RankingLimits kRankedAtStart = {400, 300};

// Whether one thread asks for one point after the other, or all processors for several at the same time. The points
// that are returned are the same.
enum class Ranking : std::uint8_t { serial, parallel };

// Returns points of the space, the cheapest first: all of a small space, else those that descents from the default and
// from the cheapest of some draws come by. Points that the model does not know are left out.
std::vector<ModelledPoint> modelled_points(const SpaceAt& space, Costs& costs, stats::Random& random,
                                           RankingLimits limits = kRankedAtStart, Ranking how = Ranking::serial);

// The results of a cost model.
struct Modelled {
  Costs costs;
  std::vector<ModelledPoint> points;  // as modelled_points() returns them
};

// Returns nothing as long as points are being ranked. Not called again once it has returned something.
using TakeModelled = std::function<std::optional<Modelled>()>;

// Draws are not those of a search with the same seed.
Modelled rank_points(const SpaceAt& space, const PointCost& cost, std::uint64_t seed);
// Ranks when it is called.
TakeModelled rank_at_once(SpaceAt space, PointCost cost, std::uint64_t seed);

}  // namespace ferry::tune
