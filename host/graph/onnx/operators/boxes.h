// Boxes of detectors.
#pragma once

#include "host/graph/onnx/node_ops.h"

namespace ferry::graph::onnx {

// Boxes by their corners, as tensors of one shape.
struct Boxes {
  Value top, left, bottom, right;
};

// Returns the boxes of rows [..., 4] as tensors of this shape. The numbers of a row are two corners, or the center with
// width and height.
Boxes corners_of(const NodeOps& of, const Value& rows, const Shape& shape, bool has_centers);

// Returns the boxes with tensors that `change` makes of theirs.
template <class Change>
Boxes each_of(const Boxes& boxes, const Change& change) {
  return {change(boxes.top), change(boxes.left), change(boxes.bottom), change(boxes.right)};
}

// Returns whether the intersection of boxes is more than this part of their union. Boxes without an area have none.
Value overlap(const NodeOps& of, const Boxes& a, const Boxes& b, const Value& threshold);

}  // namespace ferry::graph::onnx
