// Detections without those that overlap better ones.
#include <optional>
#include <vector>

#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/selection.h"
#include "host/graph/onnx/operators/suppression.h"

namespace ferry::graph::onnx {
namespace {

// Returns the only element of an input, or a number if it is not given.
Value scalar_input(const NodeImport& node, std::size_t input, DType type, double otherwise) {
  if (!node.has_input(input)) return node.constant(type, otherwise);
  const Value& value = node.input(input);
  node.expect(element_count(value.type.shape).constant() == 1 && value.type.dtype == type, "one number",
              [&] { return to_text(value.type); });
  return node.reshape(value, {});
}

// Greedy suppression of boxes by better ones, for each class of each image.
class Suppression {
 public:
  Suppression(NodeImport& node, bool has_centers) : node_(node), of_(node) {
    all_ = {of_.widened(node.input(0)), {}, of_.widened(node.input(1)), has_centers, {}, {}};
    all_.overlap = node.cast(scalar_input(node, 3, node.input(0).type.dtype, 0), all_.rows.type.dtype);
  }

  Value run() {
    const std::optional<Size> limit = known_limit();
    all_.most = limit ? min(max(*limit, 0), node_.bound_of(all_.count())) : node_.bound_of(all_.count());
    if (all_.most.constant() == 0 || !node_.has_input(2)) return node_.known({DType::i64, {0, 3}}, {});
    Found found = node_.has_input(4) && is_large() ? few_or_all() : among_all();
    if (!limit) {
      const Value order = of_.reshape(of_.iota(all_.most), {1, 1, all_.most});
      found.is_found = of_.logical_and(found.is_found, of_.less(order, scalar_input(node_, 2, DType::i64, 0)));
    }
    const Value places = selected_places(node_, flat(found.is_found));
    // Vectors divide integers of 32 bits.
    const Size room = element_count(found.best.type.shape);
    const bool is_short = room.constant().value_or(INT64_MAX) <= INT32_MAX;
    const Value at = is_short ? of_.cast(places, DType::i32) : places;
    const Value line = of_.div(at, of_.cast(of_.size(all_.most), at.type.dtype)),
                classes = of_.cast(of_.size(all_.classes()), at.type.dtype);
    const Value columns[] = {of_.div(line, classes), of_.modulo(line, classes),
                             of_.gather(flat(found.best), places, 0)};
    std::vector<Value> parts;
    for (const Value& column : columns)
      parts.push_back(of_.reshape(of_.cast(column, DType::i64), {places.type.shape[0], 1}));
    return of_.concat(parts, 1);
  }

 private:
  std::optional<Size> known_limit() const {
    if (!node_.has_input(2)) return Size(0);
    const KnownRef& known = node_.input(2).known;
    if (known == nullptr || known->integers.size() != 1) return std::nullopt;
    // Exporters write the greatest integer for no limit.
    constexpr std::int64_t kMost = std::int64_t{1} << 48;
    return known->integers[0].constant().value_or(0) > kMost ? Size(kMost) : known->integers[0];
  }

  // Whether there may be so many scores that a list of the candidates is shorter.
  bool is_large() const {
    constexpr std::int64_t kSmall = 4096;
    const Size scores = element_count(all_.scores.type.shape);
    return scores.constant().value_or(kSmall) >= kSmall && !node_.depends_on_data(scores);
  }

  Value threshold() const {
    return node_.cast(scalar_input(node_, 4, node_.input(1).type.dtype, 0), all_.scores.type.dtype);
  }

  Found among_all() const {
    const Shape& shape = all_.scores.type.shape;
    const Value place = of_.iota(shape[2], 2, 3);
    Detections all = all_;
    all.boxes = corners_of(of_, all.rows, {shape[0], 1, shape[2]}, all.has_centers);
    Value are_left = of_.broadcast(of_.less(place, of_.size(shape[2])), shape);
    if (node_.has_input(4)) are_left = of_.logical_and(are_left, of_.less(threshold(), all_.scores));
    const bool is_open = !all.count().constant();
    return are_blocks(all) && (!is_open || (node_.has_input(4) && is_large()))
               ? suppress_by_blocks(node_, all, are_left)
               : suppress_one_by_one(node_, all, are_left);
  }

  // The others are a branch, which the call takes where there are more candidates than the list has room for.
  Found few_or_all() const {
    const Listed few = suppress_listed(node_, all_, threshold());
    const std::vector<Value> found =
        node_.add_loop({1, true}, {of_.logical_not(few.are_few), few.found.is_found, few.found.best}, {},
                       [&](const std::vector<Value>& states, const std::vector<Value>&) {
                         const Found all = among_all();
                         return LoopResults{{states[0], all.is_found, all.best}, {}};
                       });
    return {found[1], found[2]};
  }

  // Returns a vector: by image, class and place.
  Value flat(const Value& found) const { return of_.reshape(found, {element_count(found.type.shape)}); }

  NodeImport& node_;
  const NodeOps of_;
  Detections all_;
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
