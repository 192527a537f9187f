// Schedules products of a few rows with a matrix that exceeds the caches: the matrix should be read once and
// sequentially.
#pragma once

#include "ferry/target/target.h"
#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

bool wants_gemv(const Contraction& contraction, std::int64_t lanes, const Target& target);

//     for two thousand columns, in threads
//       for some steps of the depth              as many streams as the processor tracks
//         for vectors of columns
//           for the steps: results += row * column
//
// A constant matrix is packed in the order in which these loops read it, before any call.
//
// Knobs: `columns` of a chunk; `steps` of the depth; `pack`, if the matrix is constant.
std::optional<Match> match_gemv(const StageContext& context);

}  // namespace ferry::autoschedule
