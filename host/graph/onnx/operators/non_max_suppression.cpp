// Detections without those that overlap better ones.
#include <limits>
#include <optional>
#include <vector>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/selection.h"

namespace ferry::graph::onnx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Boxes by their corners, each of shape [batch, 1, boxes].
struct Boxes {
  Value top, left, bottom, right;
};

Boxes corners_of(const NodeImport& node, bool has_centers) {
  const NodeOps of(node);
  const Value boxes = of.widened(node.input(0));
  const auto number = [&](std::int64_t i) {
    return of.reshape(of.slice(boxes, 2, i, 1), {boxes.type.shape[0], 1, boxes.type.shape[1]});
  };
  const Value a = number(0), b = number(1), c = number(2), d = number(3);
  if (!has_centers) return {of.minimum(a, c), of.minimum(b, d), of.maximum(a, c), of.maximum(b, d)};
  const Value width = of.div(c, 2), height = of.div(d, 2);
  return {of.sub(b, height), of.sub(a, width), of.add(b, height), of.add(a, width)};
}

Value area_of(const NodeOps& of, const Boxes& boxes) {
  return of.mul(of.sub(boxes.right, boxes.left), of.sub(boxes.bottom, boxes.top));
}

// Returns whether the intersection of boxes is more than this part of their union. Boxes without an area have none.
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

// Returns the only element of an input, or a number if it is not given.
Value scalar_input(const NodeImport& node, std::size_t input, DType type, double otherwise) {
  if (!node.has_input(input)) return node.constant(type, otherwise);
  const Value& value = node.input(input);
  node.expect(element_count(value.type.shape).constant() == 1 && value.type.dtype == type, "one number",
              [&] { return to_text(value.type); });
  return node.reshape(value, {});
}

// Greedy suppression of one box after the other, for each class of each image.
class Suppression {
 public:
  Suppression(NodeImport& node, bool has_centers)
      : node_(node), of_(node), boxes_(corners_of(node, has_centers)), scores_(of_.widened(node.input(1))) {}

  Value run() {
    const Shape& shape = scores_.type.shape;
    const std::optional<Size> limit = known_limit();
    const Size most = limit ? min(max(*limit, 0), node_.bound_of(shape[2])) : node_.bound_of(shape[2]);
    if (most.constant() == 0 || !node_.has_input(2)) return node_.known({DType::i64, {0, 3}}, {});
    // The indices of the best box that is left in each iteration, and whether one is left. Behind the first iteration
    // that finds none for any class there are none.
    const std::vector<Value> found =
        node_.add_loop({most, true}, {node_.constant(DType::boolean, 1), candidates()}, {},
                       [&](const std::vector<Value>& states, const std::vector<Value>&) { return step(states[1]); });
    Value is_found = flat(found[3], most);
    if (!limit) {
      const Value order = of_.reshape(of_.iota(most), {1, 1, most});
      const Value is_within = of_.less(order, scalar_input(node_, 2, DType::i64, 0));
      is_found = of_.reshape(of_.logical_and(of_.reshape(is_found, {shape[0], shape[1], most}), is_within),
                             {shape[0] * shape[1] * most});
    }
    const Value places = selected_places(node_, is_found);
    const Value line = of_.div(places, of_.size(most));
    const Value columns[] = {of_.div(line, of_.size(shape[1])), of_.modulo(line, of_.size(shape[1])),
                             of_.gather(flat(found[2], most), places, 0)};
    std::vector<Value> parts;
    for (const Value& column : columns) parts.push_back(of_.reshape(column, {places.type.shape[0], 1}));
    return of_.concat(parts, 1);
  }

 private:
  std::optional<Size> known_limit() const {
    if (!node_.has_input(2)) return Size(0);
    const KnownRef& known = node_.input(2).known;
    return known != nullptr && known->integers.size() == 1 ? std::optional(known->integers[0]) : std::nullopt;
  }

  Value candidates() const {
    const Shape& shape = scores_.type.shape;
    const Value place = of_.iota(shape[2], 2, 3);
    Value is_candidate = of_.broadcast(of_.less(place, of_.size(shape[2])), shape);
    if (node_.has_input(4)) {
      const Value threshold = scalar_input(node_, 4, node_.input(1).type.dtype, 0);
      is_candidate = of_.logical_and(is_candidate, of_.less(node_.cast(threshold, scores_.type.dtype), scores_));
    }
    return is_candidate;
  }

  LoopResults step(const Value& is_left) const {
    const Value score = of_.where(is_left, scores_, of_.number(scores_, -kInfinity));
    const Value best = of_.reduce(Operator::arg_max, score, {2});
    const Value is_found = of_.gather_elements(is_left, best, 2);
    const auto chosen = [&](const Value& of_all) { return of_.gather_elements(of_all, best, 2); };
    const Boxes box = {chosen(boxes_.top), chosen(boxes_.left), chosen(boxes_.bottom), chosen(boxes_.right)};
    const Value threshold = node_.cast(scalar_input(node_, 3, node_.input(0).type.dtype, 0), boxes_.top.type.dtype);
    const Value is_itself = of_.equal(of_.iota(scores_.type.shape[2], 2, 3), best);
    const Value is_removed = of_.logical_or(is_itself, overlap(of_, boxes_, box, threshold));
    const Value is_any_found =
        of_.less(0, of_.reduce(Operator::reduce_max, node_.cast(is_found, DType::i32), {0, 1, 2}, false));
    return {{is_any_found, of_.logical_and(is_left, of_.logical_not(is_removed))}, {{best}, {is_found}}};
  }

  // Returns what all iterations found as a vector: by image, class and iteration.
  Value flat(const Value& entries, const Size& most) const {
    const Shape& shape = scores_.type.shape;
    const Value lines = of_.reshape(entries, {most, shape[0] * shape[1]});
    return of_.reshape(of_.transpose(lines, {1, 0}), {shape[0] * shape[1] * most});
  }

  NodeImport& node_;
  const NodeOps of_;
  const Boxes boxes_;
  const Value scores_;
};

}  // namespace

void import_non_max_suppression(NodeImport& node) {
  const Shape &boxes = node.shape(0), &scores = node.shape(1);
  node.expect(boxes.size() == 3 && scores.size() == 3 && boxes[2].constant() == 4,
              "boxes of shape [batch, boxes, 4] and scores of shape [batch, classes, boxes]",
              [&] { return to_text(boxes) + " and " + to_text(scores); });
  node.equal("the images of the boxes", boxes[0], "those of the scores", scores[0]);
  node.equal("the number of boxes", boxes[1], "that of scores", scores[2]);
  node.output(0, Suppression(node, node.flag("center_point_box", false)).run());
}

}  // namespace ferry::graph::onnx
