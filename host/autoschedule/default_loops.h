// Helpers shared by the default schedules of all kinds of stages.
#pragma once

#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <initializer_list>

namespace ferry::autoschedule {

// Returns 0 when the extent is known only at run time.
std::int64_t constant_extent(const ir::Expr& extent);

// Returns the size of the whole tensor; 0 when it is known only at run time or exceeds any memory.
std::int64_t constant_bytes(const ir::Buffer& tensor);

// Returns the values that a stage computes at one point: the sources of its reduction, or its values.
std::vector<ir::Expr> sources_of(const schedule::ScheduledStage& stage);

// Returns the number of elements of the widest type the stage computes with that fit a vector.
std::int64_t native_lanes(const schedule::ScheduledStage& stage, const Target& target);

// Cache sizes of a core; a common size if the target does not specify one.
std::int64_t l1_bytes(const Target& target);
std::int64_t l2_bytes(const Target& target);

const schedule::ScheduledStage& stage_of(const schedule::Schedule& schedule, const schedule::StageHandle& handle);
std::vector<std::string> names_in_order(const schedule::StageLoops& loops);
bool contains(const std::vector<std::string>& names, const std::string& name);

// Fuses these loops, of which there is at least one and which are adjacent in this order; returns the new loop's name.
std::string fuse_all(schedule::StageHandle handle, const std::vector<std::string>& names);

// Whether the loops have enough iterations for threads to save time.
bool is_worth_threads(const schedule::StageLoops& loops);

// Whether the stage's axes have the extents of any other sizes too, except axes of one point. `at_any_size` are the
// program's stages with extents that are symbols then; null: these are all sizes that there are.
bool has_known_extents(const schedule::ScheduledStage& stage, const schedule::Stages* at_any_size);

// Whether any of these axes of the stage has an extent that is no constant.
bool has_open_extent(const schedule::ScheduledStage& stage, std::initializer_list<std::size_t> axes);

// Returns the first of these loops, which are adjacent, that threads can share out together so that none of them gets
// many more iterations than others; outermost ones of one iteration are omitted. A single loop if its own iterations
// are enough, or if their number is not known.
std::vector<std::string> loops_to_share(const schedule::StageLoops& loops, const std::vector<std::string>& names,
                                        const Target& target);

// Makes the outermost loop with more than one iteration parallel if there is enough work and it is not a reduction
// loop.
void make_parallel(const schedule::Schedule& schedule, schedule::StageHandle handle);

}  // namespace ferry::autoschedule
