// Losses of classifications.
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

struct Loss {
  Value scores;  // the logarithms of probabilities: [N, C, ...]
  Value target;  // the classes: [N, ...]
};

// Minus the score of each target, times the weight of its class.
Value negative_log_likelihood(NodeImport& node, const Loss& loss) {
  const NodeOps of(node);
  const Shape& shape = loss.scores.type.shape;
  node.expect(shape.size() >= 2, "an input with classes", [&] { return to_text(shape); });
  const std::string reduction = node.text("reduction", "mean");
  node.expect(reduction == "none" || reduction == "sum" || reduction == "mean", "the reduction none, sum or mean",
              [&] { return reduction; });
  const bool ignores = node.has("ignore_index"), has_weights = node.has_input(2);
  Value target = node.cast(loss.target, DType::i64), is_ignored;
  if (ignores) {
    is_ignored = of.equal(target, of.size(node.integer("ignore_index")));
    target = of.where(is_ignored, of.number(target, 0), target);
  }
  Shape places = shape;
  places[1] = 1;
  const Value picked = of.gather_elements(loss.scores, of.reshape(target, places), 1);
  Value value = of.neg(of.reshape(picked, target.type.shape)), weight;
  const Value none = of.number(value, 0);
  if (has_weights) weight = of.gather(node.input(2), target, 0);
  if (!has_weights && ignores && reduction == "mean") weight = of.filled(value.type, 1);
  const bool is_weighted = weight.type.shape == value.type.shape;
  if (ignores && is_weighted) weight = of.where(is_ignored, none, weight);
  if (has_weights) value = of.mul(value, weight);
  if (ignores) value = of.where(is_ignored, none, value);
  if (reduction == "none") return value;
  const std::vector<std::size_t> all = dimensions_from(0, value.type.shape.size());
  const Value sum = of.reduce(Operator::reduce_sum, value, all, false);
  if (reduction == "sum") return sum;
  if (has_weights || ignores) return of.div(sum, of.reduce(Operator::reduce_sum, weight, all, false));
  return of.reduce(Operator::reduce_mean, value, all, false);
}

}  // namespace

void import_negative_log_likelihood(NodeImport& node) {
  node.output(0, negative_log_likelihood(node, {node.input(0), node.input(1)}));
}

void import_softmax_cross_entropy(NodeImport& node) {
  const Value scores = NodeOps(node).log_softmax(node.input(0), 1);
  node.output(0, negative_log_likelihood(node, {scores, node.input(1)}));
  node.output(1, scores);
}

}  // namespace ferry::graph::onnx
