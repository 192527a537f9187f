// Helpers shared by the rules for GPUs: numbers of threads, and loops bound to them.
#pragma once

#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// Returns the number of threads of a block in default schedules.
std::int64_t default_threads(const Target& target);

// Returns the knob `threads`: powers of two from a warp to the largest block; if only the device knows that, to a block
// that every device has.
SpaceKnob threads_knob(const Target& target);

std::vector<std::string> loops_over_results(const schedule::ScheduledStage& stage);
std::vector<std::string> loops_of_reduction(const schedule::ScheduledStage& stage);

// Binds blocks over `outer`, unless it is empty, and threads over adjacent elements along `inner`. A thread computes
// `elements` of them, a block's width apart, or, with 0, one. Returns the threads' loop.
std::string bind_rows(schedule::StageHandle handle, const std::string& outer, const std::string& inner,
                      std::int64_t threads, std::int64_t elements);

}  // namespace ferry::autoschedule
