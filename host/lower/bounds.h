// Bounds inference: the region of a stage that its readers require.
//
// At a given loop, the loops inside it vary and those around it are fixed: an index 2*yo + yi with an inner loop yi in
// 0:8 requires [2*yo, 2*yo + 8). The union over all reads is one interval for each axis. Reads under a condition may be
// out of bounds; those points are not required.
#pragma once

#include "host/lower/nest.h"

#include <span>

namespace ferry::lower {

// Returns the region that the stage must compute at `place` (no stage: outside all loops) for its readers, which have
// already been placed in `nests`: one interval for each axis. In shared memory this is the union over all threads
// around `place`. `size_conditions` are conditions on the program's sizes that hold.
std::vector<RequiredRange> required_at(const Nests& nests, const schedule::ScheduledStage& stage,
                                       const std::vector<const Nest*>& readers, const schedule::Attachment& place,
                                       ir::Scope scope, std::span<const Expr> size_conditions);

// Computes a sliding window: removes from `required` the points that the previous iteration of the loop has already
// computed. Returns `required` unchanged if nothing slides. At most one axis changes; it is returned in `axis`, or -1.
struct Sliding {
  std::vector<RequiredRange> required;
  int axis = -1;
  std::int64_t window = 0;  // points of that axis that are live at once; 0: not a constant
};
Sliding slide(std::vector<RequiredRange> required, const schedule::Loop& loop);

}  // namespace ferry::lower
