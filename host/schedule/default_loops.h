// What the default schedules of all kinds of stages share.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"

namespace ferry::schedule {

// 0 when it is known only at run time.
std::int64_t constant_extent(const Expr& extent);

// Of all elements; 0 when that is known only at run time, or more than any memory holds.
std::int64_t constant_bytes(const ir::Buffer& tensor);

// What a stage computes at one point, reduction or not.
std::vector<Expr> sources_of(const ScheduledStage& stage);

// How many elements of the widest type that the stage computes with fill a vector.
std::int64_t native_lanes(const ScheduledStage& stage, const Target& target);

// Of a core; a common size where the target does not say.
std::int64_t l1_bytes(const Target& target);
std::int64_t l2_bytes(const Target& target);

const ScheduledStage& stage_of(const Schedule& schedule, const StageHandle& handle);
std::vector<std::string> names_in_order(const StageLoops& loops);

// One loop over all of these, at least one, which are neighbours in this order; returns its name.
std::string fuse_all(StageHandle handle, const std::vector<std::string>& names);

// Threads for the outermost loop with more than one iteration, if there is enough work for them and it is no loop of a
// reduction.
void make_parallel(const Schedule& schedule, StageHandle handle);

}  // namespace ferry::schedule
