// A reduction's tiles computed in the loops of the stages that finish its results element by element: a scale, a bias,
// an activation after a convolution, whatever its stride and padding.
//
//     for o.outer, h, w.outer                        for o.outer, h, w.outer
//       for c, kh, kw: for o.inner, w.inner             for c, kh, kw: for o.inner, w.inner: conv[tile] += ...
//         conv += ...                          ->       for o.inner, w.inner
//     for o, h, w                                         Y = relu(conv[tile] * scale)
//       Y = relu(conv * scale)
#pragma once

#include "host/schedule/schedule.h"

#include <cstddef>
#include <string>
#include <vector>

namespace ferry::schedule {

// The stages that finish this one, each read by the next alone (finishing_stage.h), as far as none is named `taken`.
std::vector<std::string> finishing_stages(const Stages& stages, const ScheduledStage& stage, const std::string& taken);

// After `stage` was scheduled by the directives from `first` on: gives all `readers` the same loops over results and
// computes the stage, and all readers but the last, inside of the last one's innermost loop around the reduction. False
// where its tile holds no vectors of results, or nothing is around it; then nothing has changed.
bool fuse_into_readers(Schedule& schedule, const std::string& stage, std::size_t first,
                       const std::vector<std::string>& readers);

// The same where `stage` is computed in the last reader's loops already, which directives from `first` on have made:
// places those between.
void place_between(Schedule& schedule, const std::string& stage, std::size_t first,
                   const std::vector<std::string>& readers);

}  // namespace ferry::schedule
