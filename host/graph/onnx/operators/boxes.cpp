#include "host/graph/onnx/operators/boxes.h"

namespace ferry::graph::onnx {
namespace {

Value area_of(const NodeOps& of, const Boxes& boxes) {
  return of.mul(of.sub(boxes.right, boxes.left), of.sub(boxes.bottom, boxes.top));
}

}  // namespace

Boxes corners_of(const NodeOps& of, const Value& rows, const Shape& shape, bool has_centers) {
  const std::size_t last = rows.type.shape.size() - 1;
  const auto number = [&](std::int64_t i) { return of.reshape(of.slice(rows, last, i, 1), shape); };
  const Value a = number(0), b = number(1), c = number(2), d = number(3);
  if (!has_centers) return {of.minimum(a, c), of.minimum(b, d), of.maximum(a, c), of.maximum(b, d)};
  const Value width = of.div(c, 2), height = of.div(d, 2);
  return {of.sub(b, height), of.sub(a, width), of.add(b, height), of.add(a, width)};
}

Value overlap(const NodeOps& of, const Boxes& a, const Boxes& b, const Value& threshold) {
  const Boxes shared = {of.maximum(a.top, b.top), of.maximum(a.left, b.left), of.minimum(a.bottom, b.bottom),
                        of.minimum(a.right, b.right)};
  const Value width = of.maximum(of.sub(shared.right, shared.left), 0),
              height = of.maximum(of.sub(shared.bottom, shared.top), 0), intersection = of.mul(width, height);
  const Value first = area_of(of, a), second = area_of(of, b);
  const Value whole = of.sub(of.add(first, second), intersection);
  const Value have_area = of.logical_and(of.logical_and(of.less(0, first), of.less(0, second)),
                                         of.logical_and(of.less(0, intersection), of.less(0, whole)));
  return of.logical_and(have_area, of.less(threshold, of.div(intersection, whole)));
}

}  // namespace ferry::graph::onnx
