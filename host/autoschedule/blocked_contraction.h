// Schedules large matrix products: results are accumulated in register tiles, and operands are packed in the order in
// which the tiles read them.
#pragma once

#include "ferry/target/target.h"
#include "host/autoschedule/blocking.h"
#include "host/autoschedule/rule.h"

#include <string>

namespace ferry::autoschedule {

// Returns the length of a contraction's vectors: the target's, or two or four registers for images with so many
// channels in a block on targets whose networks of bytes have them (host/graph/passes/choose_layouts.h).
std::int64_t contraction_lanes(const schedule::ScheduledStage& stage, const Target& target);

// Whether each column is used by enough rows to make packing worthwhile, and plain tiles would not suffice.
bool wants_blocks(const Contraction& contraction, std::int64_t lanes, const Target& target);

// The columns are the outer loop if the rows' tensor fits the second-level cache, otherwise the rows are:
//
//     for columns by tile                          for a block of the depth
//       pack these columns                           for rows by tile, in threads
//       for rows by tile                               pack these rows, if they collide in the cache
//         for depth: tile += row * column              for columns by tile
//                                                        for depth: tile += row * column
//
// With an epilogue, these are the epilogue's loops, and the product's tiles are computed in them, unless long sums are
// accumulated in blocks of the depth: then no epilogue can be applied while they are in registers, and it is a stage
// with loops of its own.
//
// Knobs: `tile`, the rows and vectors of the register tile; `order`, which of the two nests; `depth_block`, the whole
// depth or fewer steps; `unroll`, whether steps of the depth share registers; `pack_columns` and `pack_rows`; `ahead`,
// the steps that packed filters are prefetched ahead; `epilogue`, where it is computed; `parallel`. Tiles of one row
// are not packed by rows.
std::optional<Match> match_blocked_contraction(const StageContext& context);

// Makes this schedule of a contraction, in the loops of the stage `epilogue` unless that is empty, and returns the name
// of the packed columns, or "". Loops are fused for the threads of the target `sharing`; null: they are not.
std::string schedule_blocked(schedule::Schedule& schedule, schedule::StageHandle handle, const Contraction& contraction,
                             Blocking blocking, const std::string& epilogue, const Target* sharing);

}  // namespace ferry::autoschedule
