// Products of a few rows with a matrix that no cache holds: what counts is to read the matrix once, in long stretches.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/product.h"
#include "host/schedule/schedule.h"

namespace ferry::schedule {

bool wants_streaming(const Product& product, std::int64_t lanes, const Target& target);

//     for two thousand columns, in threads
//       for some steps of the depth              as many streams as the processor follows
//         for vectors of columns
//           for the steps: results += row * column
//
// A constant matrix is arranged in the order in which this reads it, before any call.
void schedule_streamed(Schedule& schedule, StageHandle handle, const Product& product, std::int64_t lanes);

}  // namespace ferry::schedule
