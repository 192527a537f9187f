// Bounds inference: which points of a stage the stages that read it need.
//
// At a loop, the loops inside of it vary and those around it stand still: an index 2*yo + yi with yi in 8 inside needs
// [2*yo, 2*yo + 8). The union over all reads is one interval for each axis. Reads under a condition may lie outside of
// the tensor; those points are not needed.
#pragma once

#include "host/lower/nest.h"

#include <span>

namespace ferry::lower {

// What `nest`'s stage must compute at `place` (no stage: outside all loops) for its readers, which are among `nests`
// already. One for each of its axes. In shared memory, what all threads around `place` need together. `sizes` are
// conditions on the program's sizes that hold.
std::vector<Needed> needed_at(const Nests& nests, const schedule::ScheduledStage& stage,
                              const std::vector<const Nest*>& readers, const schedule::Attachment& place,
                              ir::Scope scope, std::span<const Expr> sizes);

// The stage computed as a window that slides along the loop it is computed at: without the points that the iteration
// before has computed already. `needed` as it is where nothing slides. At most one axis changes; it is returned in
// `axis`, or -1.
struct Sliding {
  std::vector<Needed> needed;
  int axis = -1;
  std::int64_t window = 0;  // points of that axis that are alive at once; 0: not a constant
};
Sliding slide(std::vector<Needed> needed, const schedule::Loop& loop);

}  // namespace ferry::lower
