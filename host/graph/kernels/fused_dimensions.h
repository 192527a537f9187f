// Makes one dimension of several that a group of nodes does not tell apart, so that fewer kernels do for a network,
// with longer loops: all dimensions of elementwise operators without broadcasting, or the batches and rows of a product
// with one matrix.
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
  // `inputs` broadcast to the result. `is_free` says of each dimension but the first whether it may be one with that
  // before it.
  FusedDimensions(const Shape& result, std::span<const Shape> inputs, const std::vector<bool>& is_free);

  // Returns the shape of one of the inputs in the new dimensions.
  Shape broadcast_input(const Shape& shape) const;
  // Returns the leading dimensions of the result, of which there are `count`, in the new dimensions.
  Shape leading(std::size_t count) const;

 private:
  // Returns the size of a shape's dimension that broadcasts to dimension `d` of the result.
  Size size_at(const Shape& shape, std::size_t d) const;

  Shape result_;
  std::vector<std::size_t> begins_;  // the first of the dimensions that are fused, for each new dimension
  bool fuses_ = false;
};

}  // namespace ferry::graph
