// Fuses a reduction with the epilogues that read it element by element: its tiles are computed in their loops. An
// example is a scale, a bias and an activation after a convolution with any stride and padding.
//
//     for o.outer, h, w.outer                        for o.outer, h, w.outer
//       for c, kh, kw: for o.inner, w.inner             for c, kh, kw: for o.inner, w.inner: conv[tile] += ...
//         conv += ...                          ->       for o.inner, w.inner
//     for o, h, w                                         Y = relu(conv[tile] * scale)
//       Y = relu(conv * scale)
#pragma once

#include "host/autoschedule/rule.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ferry::autoschedule {

// Returns the chain of epilogues of this stage, each read only by the next (epilogue.h), which ends before the one
// named `stop_before`.
std::vector<std::string> epilogue_stages(const schedule::Stages& stages, const schedule::ScheduledStage& stage,
                                         const std::string& stop_before);

// `stage` has been scheduled by the directives from `first` on. Gives all `epilogues` the same loops over results and
// computes the stage, and all epilogues but the last, inside the last one's innermost loop around the reduction.
// Returns false and changes nothing if the stage's tile holds no vectors of results, or no loop is around it.
bool fuse_into_epilogues(schedule::Schedule& schedule, const std::string& stage, std::size_t first,
                         const std::vector<std::string>& epilogues);

// The same if `stage` is already computed in the last epilogue's loops, which the directives from `first` on have made:
// computes the other epilogues between the two.
void compute_between(schedule::Schedule& schedule, const std::string& stage, std::size_t first,
                     const std::vector<std::string>& epilogues);

// Fuses the stage with its epilogues, if there are any and fuse_into_epilogues() can.
Scheduled with_epilogues(schedule::Schedule& schedule, const std::string& stage, std::size_t first,
                         const std::vector<std::string>& epilogues);

}  // namespace ferry::autoschedule
