// The loops of a blocked contraction: register tiles around which the sums run.
#pragma once

#include "ferry/schedule/schedule.h"
#include "host/autoschedule/blocking.h"
#include "host/autoschedule/packing.h"

#include <string>
#include <vector>

namespace ferry::autoschedule {

// The stage's loops grouped by what they iterate over, outermost first.
struct BlockedLoops {
  std::vector<std::string> batches, rows, depth, tile;
  std::string depth_block, columns;
  std::string group;  // products that an instruction adds; empty: none
  // Steps of the depth in one copy of the body each: two groups whose products are added up first, or steps that share
  // registers; empty: none
  std::string steps;
};

template <class... Lists>
std::vector<std::string> joined(const Lists&... lists) {
  std::vector<std::string> all;
  (all.insert(all.end(), lists.begin(), lists.end()), ...);
  return all;
}

// Splits, orders and unrolls the loops of the contraction's stage, or of a stage with the same axes.
BlockedLoops make_loops(schedule::Schedule& schedule, schedule::StageHandle handle,
                        const schedule::ScheduledStage& stage, const Contraction& contraction,
                        const Blocking& blocking);

// Returns the panels in which the tiles read the columns.
Packing column_packing(const Contraction& contraction, RegisterTile tile, std::int64_t lanes);

}  // namespace ferry::autoschedule
