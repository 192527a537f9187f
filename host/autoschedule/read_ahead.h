// Small strided windows, as in pooling, over tensors in memory: the number of outstanding cache misses limits their
// speed.
#pragma once

#include "ferry/target/target.h"
#include "host/autoschedule/rule.h"

namespace ferry::autoschedule {

// Prefetches the next rows of the tensors that the stage reads with a stride. Code generation loads each cache line
// only once, which alone gives the hardware prefetchers too little to work with. To be called once the stage's other
// loops have been scheduled, with the window unrolled into `unrolled_vectors` vectors.
//
// Where the stores are non-temporal, the stage also alternates between rows that are far apart: TLB misses and the
// start of hardware prefetching in the page of one row overlap with reading the others.
//
//     for c                  for c.outer
//       for h                  for h
//         window        ->       prefetch 4 windows of h + 1
//                                for c.inner (4, unrolled)
//                                  window
//
// Does not apply to tensors that fit the second-level cache.
//
// Knobs: `streams`, the number of rows to alternate between; `ahead`, the number of iterations to prefetch ahead.
std::optional<Match> match_read_ahead(const StageContext& context, std::int64_t unrolled_vectors);

}  // namespace ferry::autoschedule
