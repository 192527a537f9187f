// The walk over a program that makes its schedule: at each decision a rule offers a space, and a chooser picks a point.
//
// The walk inlines cheap stages, fuses stages over the same rows, and then schedules stage after stage by the first
// rule that matches (rules.h). Which decisions follow, and what they offer, may depend on the points chosen before.
#pragma once

#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "host/autoschedule/sized_stages.h"
#include "host/autoschedule/space.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <functional>
#include <string>
#include <vector>

namespace ferry::autoschedule {

struct Decision {
  std::string stage;
  std::string rule;
  Space space;
};

// Returns a point of the decision's space.
using Chooser = std::function<Point(const Decision&)>;

// The schedule that a chooser made, and the decisions on its way.
struct DecidedSchedule {
  schedule::Schedule schedule;
  std::vector<Decision> decisions;
  std::vector<Point> points;  // one for each decision
  bool at_sizes = false;      // whether the walk went over the program at the sizes
};

// `sizes` are as in default_schedule(): the walk goes over the program at these sizes. If its directives are not legal
// for the program at any size, there is another walk, without sizes, and the decisions are those of that one. Throws
// CompileError if the chooser returns a point that is not in the space.
DecidedSchedule decide_schedule(const lang::Program& program, const Target& target, const Sizes& sizes,
                                const Chooser& choose);

// Chooses the default point of every space.
Point choose_default(const Decision& decision);

// Returns the number of combinations of points of these decisions, at most the largest uint64.
std::uint64_t points_of(const std::vector<Decision>& decisions);

// "C: gemv, 24 points" and a line for each knob, with the value at the point in brackets.
std::string to_text(const Decision& decision, const Point& point);

}  // namespace ferry::autoschedule
