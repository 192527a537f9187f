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

// Boxes of each class of each image, [batch, classes or 1, boxes], and which of them are left, [batch, classes, boxes].
struct Candidates {
  Boxes boxes;
  Value scores, are_left;
};

// The results of all iterations for each class of each image, [batch, classes, iterations].
struct Found {
  Value is_found, best;
};

// Greedy suppression of one box after the other, for each class of each image.
class Suppression {
 public:
  Suppression(NodeImport& node, bool has_centers)
      : node_(node),
        of_(node),
        all_{corners_of(node, has_centers), of_.widened(node.input(1)), {}},
        images_(all_.scores.type.shape[0]),
        classes_(all_.scores.type.shape[1]) {}

  Value run() {
    const Size boxes = all_.scores.type.shape[2];
    const std::optional<Size> limit = known_limit();
    most_ = limit ? min(max(*limit, 0), node_.bound_of(boxes)) : node_.bound_of(boxes);
    if (most_.constant() == 0 || !node_.has_input(2)) return node_.known({DType::i64, {0, 3}}, {});
    all_.are_left = candidates();
    Found found = node_.has_input(4) && boxes.constant() && *boxes.constant() >= 4 * kFew
                      ? suppress_few_or_all()
                      : suppress(all_, node_.constant(DType::boolean, 1));
    if (!limit) {
      const Value order = of_.reshape(of_.iota(most_), {1, 1, most_});
      found.is_found = of_.logical_and(found.is_found, of_.less(order, scalar_input(node_, 2, DType::i64, 0)));
    }
    const Value places = selected_places(node_, flat(found.is_found));
    const Value line = of_.div(places, of_.size(most_));
    const Value columns[] = {of_.div(line, of_.size(classes_)), of_.modulo(line, of_.size(classes_)),
                             of_.gather(flat(found.best), places, 0)};
    std::vector<Value> parts;
    for (const Value& column : columns) parts.push_back(of_.reshape(column, {places.type.shape[0], 1}));
    return of_.concat(parts, 1);
  }

 private:
  // Classes with up to so many candidates are computed on these alone.
  static constexpr std::int64_t kFew = 512;
  // An index that is out of bounds for any tensor.
  static constexpr double kNoIndex = -0x1p31;

  std::optional<Size> known_limit() const {
    if (!node_.has_input(2)) return Size(0);
    const KnownRef& known = node_.input(2).known;
    return known != nullptr && known->integers.size() == 1 ? std::optional(known->integers[0]) : std::nullopt;
  }

  Value candidates() const {
    const Shape& shape = all_.scores.type.shape;
    const Value place = of_.iota(shape[2], 2, 3);
    Value is_candidate = of_.broadcast(of_.less(place, of_.size(shape[2])), shape);
    if (node_.has_input(4)) {
      const Value threshold = scalar_input(node_, 4, node_.input(1).type.dtype, 0);
      is_candidate =
          of_.logical_and(is_candidate, of_.less(node_.cast(threshold, all_.scores.type.dtype), all_.scores));
    }
    return is_candidate;
  }

  // Behind the first iteration that finds none for any class there are none. Nothing is found where `runs` is false.
  Found suppress(const Candidates& of, const Value& runs) const {
    const std::vector<Value> results = node_.add_loop(
        {most_, true}, {runs, of.are_left}, {},
        [&](const std::vector<Value>& states, const std::vector<Value>&) { return step(of, states[1]); });
    const auto by_class = [&](const Value& entries) {
      const Value lines = of_.reshape(entries, {most_, images_ * classes_});
      return of_.reshape(of_.transpose(lines, {1, 0}), {images_, classes_, most_});
    };
    return {by_class(results[3]), by_class(results[2])};
  }

  LoopResults step(const Candidates& of, const Value& are_left) const {
    const Value score = of_.where(are_left, of.scores, of_.number(of.scores, -kInfinity));
    const Value best = of_.reduce(Operator::arg_max, score, {2});
    const Value is_found = of_.gather_elements(are_left, best, 2);
    const auto chosen = [&](const Value& of_all) { return of_.gather_elements(of_all, best, 2); };
    const Boxes box = {chosen(of.boxes.top), chosen(of.boxes.left), chosen(of.boxes.bottom), chosen(of.boxes.right)};
    const Value threshold = node_.cast(scalar_input(node_, 3, node_.input(0).type.dtype, 0), of.boxes.top.type.dtype);
    const Value is_itself = of_.equal(of_.iota(of.scores.type.shape[2], 2, 3), best);
    const Value is_removed = of_.logical_or(is_itself, overlap(of_, of.boxes, box, threshold));
    const Value is_any_found =
        of_.less(0, of_.reduce(Operator::reduce_max, node_.cast(is_found, DType::i32), {0, 1, 2}, false));
    return {{is_any_found, of_.logical_and(are_left, of_.logical_not(is_removed))}, {{best}, {is_found}}};
  }

  // A detector gives almost all boxes scores below the threshold. Where no class has many above it, these are moved
  // together first, and the loop over all boxes does not run.
  Found suppress_few_or_all() const {
    const Value ones = node_.cast(all_.are_left, DType::i32);
    const Value counts = of_.reduce(Operator::reduce_sum, ones, {2});
    const Value are_few = of_.less_equal(of_.reduce(Operator::reduce_max, counts, {0, 1, 2}, false), kFew);
    const Value rank = node_.add(Operator::cumulative_sum, {ones}, CumulativeAttributes{2, true, false});
    const Value to = of_.where(all_.are_left, rank, of_.number(rank, kNoIndex));
    const Value places = of_.scatter(of_.filled({DType::i64, {images_, classes_, kFew}}, 0), to,
                                     of_.iota(all_.scores.type.shape[2], 2, 3), {2, ScatterMode::replace});
    const auto moved = [&](const Value& of_all) { return of_.gather_elements(of_all, places, 2); };
    const Boxes& boxes = all_.boxes;
    const Candidates few = {{moved(boxes.top), moved(boxes.left), moved(boxes.bottom), moved(boxes.right)},
                            moved(all_.scores),
                            of_.less(of_.iota(kFew, 2, 3), node_.cast(counts, DType::i64))};
    const Found of_few = suppress(few, are_few), of_all = suppress(all_, of_.logical_not(are_few));
    return {of_.logical_or(of_few.is_found, of_all.is_found),
            of_.where(are_few, of_.gather_elements(places, of_few.best, 2), of_all.best)};
  }

  // Returns a vector: by image, class and iteration.
  Value flat(const Value& found) const { return of_.reshape(found, {images_ * classes_ * most_}); }

  NodeImport& node_;
  const NodeOps of_;
  Candidates all_;
  const Size images_, classes_;
  Size most_ = 0;  // iterations
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
