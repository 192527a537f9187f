// Prints what the default schedules of a kernel choose from, and the points that are chosen.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ferry/target/target.h"
#include "host/autoschedule/decisions.h"
#include "host/compiler/api/compiler.h"

namespace ferry {

struct FunctionSpace {
  std::string function;
  autoschedule::DecidedSchedule decided;
};

// Returns the decisions at the user's point, or those of the default schedule.
std::vector<FunctionSpace> spaces_of(const Scheduled& scheduled, const Target& target);

// A line "def NAME" with the number of schedules, then each decision with its knobs.
std::string space_text(std::span<const FunctionSpace> spaces);
// The same for programs: a JSON array with an entry for each function.
std::string space_json(std::span<const FunctionSpace> spaces);

// The points as a text that the user may give, with a line "def NAME" for each function.
std::string points_text(std::span<const FunctionSpace> spaces);
std::string points_json(std::span<const FunctionSpace> spaces);

// Returns the point with the knobs of its decisions.
SpacePoint space_point(const autoschedule::DecidedSchedule& decided);

}  // namespace ferry
