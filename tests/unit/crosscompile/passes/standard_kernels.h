// The typical loop programs of lowering, for tests that run every pass over all of them.
#pragma once

#include "tests/unit/crosscompile/passes/kernel.h"

namespace ferry::passes {

struct StandardKernel {
  std::string name;
  ir::Function function;
};

// out[x] = a[x] + b[x], with x split by `lanes` and the inner loop vectorized.
ir::Function vector_add(DType dtype, std::int64_t lanes, ir::ForKind outer = ir::ForKind::serial);
// C = A * B, tiled 4 x lanes with accumulators; rows are unrolled, columns vectorized.
ir::Function tiled_matmul(DType dtype, std::int64_t lanes, ir::ForKind outer = ir::ForKind::serial);
// Sums of rows, with one partial sum for each lane.
ir::Function row_sum(DType dtype, std::int64_t lanes);
// 3x3 convolution of a single image, with padding by a condition.
ir::Function padded_convolution(DType dtype, std::int64_t lanes, ir::ForKind outer = ir::ForKind::serial);
// Zero padding with any(...).
ir::Function zero_pad(DType dtype, std::int64_t lanes);
// The lower triangle of a matrix.
ir::Function lower_triangle(DType dtype, std::int64_t lanes);
// Three stages through two buffers of the call's workspace and one of a thread's workspace.
ir::Function staged(DType dtype);
// A fused parallel loop that recovers its rows by a division.
ir::Function fused_rows(DType dtype, std::int64_t lanes);

std::vector<StandardKernel> standard_kernels();

}  // namespace ferry::passes
