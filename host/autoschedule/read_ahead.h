// Small strided windows, as in pooling, over tensors in memory: the number of outstanding cache misses limits their
// speed.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"

namespace ferry::schedule {

// Prefetches the next rows of the tensors that the stage reads with a stride. Code generation loads each cache line
// only once, which alone gives the hardware prefetchers too little to work with. Call it when the other loops are
// chosen, with the window unrolled into `unrolled_points` vectors.
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
// The schedule does not change where the second-level cache holds what is read.
void read_ahead(const Schedule& schedule, StageHandle handle, std::int64_t unrolled_points, const Target& target);

}  // namespace ferry::schedule
