// The schedule of a GPU's kernels for programs that come without one.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"

namespace ferry::schedule {

// Stages that are to be computed where they are used say so already; every other one is a kernel of its own:
// element-wise stages and reductions with a thread for each element, sums of rows with a block for each, large products
// in tiles of shared memory (gpu_product.h), each finished by the stage that reads it element by element.
Schedule decide_for_gpu(Schedule schedule, const Target& target);

}  // namespace ferry::schedule
