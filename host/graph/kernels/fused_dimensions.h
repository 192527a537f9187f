// Fuses adjacent dimensions that a group treats alike, so that a network needs fewer kernels, with longer loops: all
// dimensions of elementwise operators without broadcasting, or the batches and rows of a product with one matrix.
//
//     [N, C, H, W] + [C, 1, 1]   ->   [N, C, H * W] + [C, 1]
#pragma once

#include "host/graph/graph.h"

#include <cstddef>
#include <span>
#include <vector>

namespace ferry::graph {

class FusedDimensions {
 public:
  // `inputs` broadcast to the result. is_free[d]: dimension d may be fused with dimension d - 1.
  FusedDimensions(const Shape& result, std::span<const Shape> inputs, const std::vector<bool>& is_free);

  // Returns the shape of one of the inputs in the new dimensions.
  Shape broadcast_input(const Shape& shape) const;
  // Returns the leading dimensions of the result, of which there are `count`, in the new dimensions.
  Shape leading(std::size_t count) const;

 private:
  Shape result_;
  std::vector<std::size_t> begins_;  // the first of the dimensions that are fused, for each new dimension
  bool fuses_ = false;
};

}  // namespace ferry::graph
