// Large products: tiles of results in registers, operands packed in the order in which the tiles read them.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/product.h"
#include "host/schedule/schedule.h"

namespace ferry::schedule {

// Whether every column is used by enough rows for packing to pay, and plain tiles would not do.
bool wants_blocks(const Product& product, std::int64_t lanes, const Target& target);

// With columns outside where the rows' tensor stays in the second-level cache, else with rows outside:
//
//     for columns by tile                          for a block of the depth
//       pack these columns                           for rows by tile, in threads
//       for rows by tile                               pack these rows, if they collide in the cache
//         for depth: tile += row * column              for columns by tile
//                                                        for depth: tile += row * column
//
// With an epilogue, its loops are these and the product's tiles are computed in them.
void schedule_blocked(Schedule& schedule, StageHandle handle, const Product& product, std::int64_t lanes,
                      const Target& target, const std::string& epilogue);

// Whether long sums are added up in blocks: then no stage can finish them while they are in registers.
bool blocks_depth(const ScheduledStage& stage, const Product& product, std::int64_t lanes, const Target& target);

}  // namespace ferry::schedule
