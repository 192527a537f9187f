// Fuses stages that process the same rows one after the other, as in a softmax or a normalisation: each stage finds the
// row that the previous one has left in the cache.
#pragma once

#include "ferry/schedule/schedule.h"
#include "ferry/target/target.h"
#include "host/autoschedule/space.h"
#include "host/schedule/stages/scheduled_stage.h"

#include <string>
#include <vector>

namespace ferry::autoschedule {

struct RowFusion {
  std::string result;               // the stage in whose outer loops the others are computed; empty: nothing is fused
  std::vector<std::string> stages;  // the others, consumers first
  std::size_t outer = 0;            // number of leading axes that enumerate the rows
  std::int64_t rows = 1;            // number of rows that each stage computes before the next one does, by default
};

//     for i: top[i] = max(A[i, :])                 for i
//     for i: for j: e[i,j] = exp(A[i,j] - top[i])    top = max(A[i, :])
//     for i: total[i] = sum(e[i, :])           ->    for j: e[j] = exp(A[i,j] - top)
//     for i: for j: Y[i,j] = e[i,j] / total[i]       total = sum(e)
//                                                    for j: Y[i,j] = e[j] / total
//
// Applies to programs with one result; `apart` are stages that keep their own loops. Rows must be long enough to
// justify a loop of their own and short enough for the second-level cache.
RowFusion find_row_fusion(const schedule::Stages& stages, const std::vector<std::string>& apart, const Target& target);

// Returns the number of leading axes of the reader that are also the leading indices of the load.
std::size_t shared_axes(const schedule::ScheduledStage& reader, const ir::Load& load);
// Returns the number of leading axes of the stage on which the rows of all its readers agree; 0 if a reader is not in
// the group.
std::size_t agreed_axes(const schedule::Stages& stages, const schedule::ScheduledStage& stage,
                        const std::vector<std::string>& group);

// Knobs: `axes`, the number of leading axes whose loops enumerate the rows; with fewer of them several rows are
// computed at a time, and with 0 nothing is fused; `rows`, the number of rows that are computed at a time.
Space space_of(const RowFusion& fusion);

// Computes the stages in the loops of the result, of which those are fused that threads share out together.
void fuse(schedule::Schedule& schedule, const RowFusion& fusion, const Target& target,
          const schedule::Stages& at_any_size);

}  // namespace ferry::autoschedule
