// The schedules of the functions that are compiled together.
#pragma once

#include <string>
#include <vector>

#include "ferry/schedule/schedule.h"
#include "host/compiler/api/compiler.h"

namespace ferry {

// Returns one schedule for each program: the user's, or the default.
std::vector<schedule::Schedule> schedules_of(const Scheduled& scheduled, const Target& target);

// Returns a line for each directive of the user's schedule that the compiler cannot carry out on this target.
std::vector<std::string> schedule_notes(const Scheduled& scheduled, const std::vector<schedule::Schedule>& schedules,
                                        const Target& target);

}  // namespace ferry
