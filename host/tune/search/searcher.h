// Decides which point of a space is tried next.
#pragma once

#include "host/compiler/api/space_point.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace ferry::tune {

// Values for knobs by "STAGE.KNOB": knobs that are not named keep their defaults.
using PointValues = std::map<std::string, std::string>;

// Returns the point that these values lead to. Values of knobs that are not there are dropped; nothing if the point is
// not one of the space.
using SpaceAt = std::function<std::optional<SpacePoint>(const PointValues& values)>;

// The outcome of a point.
struct PointResult {
  std::optional<double> seconds = {};  // a call takes so long
  std::string failure = {};            // why there is no time: an outcome, such as "wrong"; empty: it is not known yet
};

// Only one thread at a time calls a searcher.
class Searcher {
 public:
  virtual ~Searcher() = default;
  // Returns a point that was neither returned nor reported before; nothing if there is none now.
  virtual std::optional<SpacePoint> next() = 0;
  // Takes what came of a point that next() returned, or of one that was tried earlier.
  virtual void report(const SpacePoint& point, const PointResult& result) = 0;
  // Whether next() may return a point later although nothing is being tried.
  virtual bool is_thinking() { return false; }
  // Returns why the search ended before its time; empty if it did not.
  virtual std::string failure() { return {}; }
};

}  // namespace ferry::tune
