// Chooses the axes along which a stage is vectorised and tiled.
#pragma once

#include "ferry/target/target.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ferry::autoschedule {

struct VectorAxis {
  bool reduces = false;  // an axis of the reduction
  std::size_t axis = 0;
  bool operator==(const VectorAxis&) const = default;
};

// Returns the axis that needs the fewest separate loads and stores for each vector element, or nothing if every axis
// has one point, or if only the axes of a user-defined reduction are left. The first `outer` axes are not vectorised.
std::optional<VectorAxis> choose_vector_axis(const schedule::ScheduledStage& stage, const Target& target,
                                             std::size_t outer);

// Returns the spatial axis along which the loads that move with the vector axis are invariant, so that a register tile
// reuses them.
std::optional<std::size_t> choose_row_axis(const schedule::ScheduledStage& stage, const ir::Reduce& reduce,
                                           VectorAxis vector, std::size_t outer);

// Returns the number of lanes for an axis of this extent: those of a register, or fewer if that avoids tails. Shorter
// axes are one vector, under a mask where the target has masks.
std::int64_t lanes_for(const schedule::ScheduledStage& stage, const ir::Expr& extent, const Target& target);

// Returns half a register, one register and two, as far as these are vectors.
std::vector<std::int64_t> lane_candidates(std::int64_t native_lanes);

}  // namespace ferry::autoschedule
