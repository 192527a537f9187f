// The points of a space that a cost model prefers, found without running anything.
#pragma once

#include "host/stats/random.h"
#include "host/tune/search/searcher.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferry::tune {

// Returns how long a call takes at a point as a cost model sees it, in a unit of its own; nothing if it does not know.
using PointCost = std::function<std::optional<double>(const SpacePoint& point)>;

// A point with its cost.
struct ModelledPoint {
  double cost = 0;
  SpacePoint point;
};

// Remembers what points cost.
class Costs {
 public:
  explicit Costs(PointCost cost) : cost_(std::move(cost)) {}
  bool is_known() const { return cost_ != nullptr; }
  std::optional<double> of(const SpacePoint& point);

 private:
  PointCost cost_;
  std::map<std::vector<std::string>, std::optional<double>> known_;  // by values in order
};

// A search ranks so many points before it tries its first one, at up to a millisecond each.
inline constexpr std::uint64_t kModelledAtStart = 400;

// Returns points of the space, the cheapest first: all of a space of up to `whole` points, else those that descents
// from the default and from the cheapest of some draws come by. Points that the model does not know are left out.
std::vector<ModelledPoint> modelled_points(const SpaceAt& space, Costs& costs, stats::Random& random,
                                           std::uint64_t whole = kModelledAtStart);

}  // namespace ferry::tune
