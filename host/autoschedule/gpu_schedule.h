// The default schedule of GPU kernels.
#pragma once

#include "crosscompile/target/target.h"
#include "host/schedule/schedule.h"

namespace ferry::schedule {

// Stages that are computed where they are used have already been inlined; every other one becomes a kernel of its own:
// element-wise stages and reductions with a thread for each element, sums of rows with a block for each, large products
// in shared-memory tiles (gpu_product.h). The stage that reads a reduction element by element becomes its epilogue.
Schedule decide_for_gpu(Schedule schedule, const Target& target);

}  // namespace ferry::schedule
