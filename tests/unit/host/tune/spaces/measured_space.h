// Parts of spaces of which every point was measured once (bench/tune/measure_space.py), as devices that answer at once.
#pragma once

#include "crosscompile/cost/estimate.h"
#include "crosscompile/target/resolve.h"
#include "ferry/lang/program.h"
#include "host/autoschedule/decisions.h"
#include "host/compiler/api/space_point.h"
#include "host/tune/search/modelled_points.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ferry::test {

struct MeasuredTime {
  double seconds = 0;
  bool is_first_look = false;  // the point was stopped, because it was far slower than the best
};

class MeasuredSpace {
 public:
  explicit MeasuredSpace(const std::string& file);

  const std::string& name() const { return name_; }
  const lang::Program& program() const { return program_; }  // with the sizes fixed
  const Target& target() const { return target_; }
  std::size_t points() const { return times_.size(); }
  const std::map<std::vector<std::size_t>, MeasuredTime>& times() const { return times_; }

  // Returns the part of the space, for a search.
  tune::SpaceAt function() const;
  // Returns the point with these candidates of its knobs.
  SpacePoint at(const std::vector<std::size_t>& candidates) const;
  // Returns nothing for a point that failed.
  std::optional<MeasuredTime> time_of(const SpacePoint& point) const;
  // Returns the answer of a device that stops points which are 1.3 times as slow as the best so far (0: none).
  tune::PointResult answer(const SpacePoint& point, double best_seconds) const;
  double default_seconds() const;
  // Returns the times of all points, the fastest first.
  std::vector<double> sorted_seconds() const;
  cost::Estimate estimate_at(const std::vector<std::size_t>& candidates) const;
  // Returns the cost model's cycles, from a table of which all is computed once.
  tune::PointCost costs() const;
  autoschedule::DecidedSchedule schedule_at(const std::vector<std::size_t>& candidates) const;

 private:
  std::string name_;
  lang::Program program_;
  Target target_;
  std::vector<PointKnob> knobs_;
  mutable std::map<std::vector<std::size_t>, double> costs_;
  std::map<std::vector<std::size_t>, MeasuredTime> times_;  // by the number of the candidate of each knob
};

// Returns all of them, by name.
const std::vector<MeasuredSpace>& measured_spaces();

}  // namespace ferry::test
