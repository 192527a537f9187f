// Reductions over a small window that slides along rows: depthwise convolutions, blurs.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"

namespace ferry::schedule {

// Whether the stage adds up few elements around each point, with the innermost axis contiguous in what it reads and the
// next one sliding as well: neighbouring rows then share most of what they read.
bool is_window(const ScheduledStage& stage);

// Stages that only surround a tensor with a constant and are read by windows alone: cheaper to repeat than to store.
std::vector<std::string> borders_of_windows(const Stages& stages);

//     for rows by tile, for columns by vectors
//       for window (unrolled), for the tile's rows (unrolled)
//         row's vector += ...
void schedule_window(StageHandle handle, const ScheduledStage& stage, std::int64_t lanes, const Target& target);

}  // namespace ferry::schedule
