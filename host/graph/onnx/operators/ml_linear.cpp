// Linear models of ai.onnx.ml.
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/operators/ml.h"

namespace ferry::graph::onnx {
namespace {

// Returns x times the coefficients, which have a row for each of so many targets, plus the intercepts.
Value linear(NodeImport& node, const Value& x, std::int64_t targets) {
  const NodeOps of(node);
  const std::vector<double> coefficients = node.reals("coefficients"), intercepts = node.reals("intercepts");
  const auto count = static_cast<std::int64_t>(coefficients.size());
  node.expect(targets > 0 && count > 0 && count % targets == 0, "as many coefficients for each target",
              [&] { return std::to_string(count) + " for " + std::to_string(targets) + " targets"; });
  node.equal("the features", x.type.shape[1], "the coefficients of a target", count / targets);
  const Value matrix = ml::floats(node, x.type.dtype, {targets, count / targets}, coefficients);
  const Value product = of.matmul(x, matrix, {false, true});
  if (intercepts.empty()) return product;
  node.expect(static_cast<std::int64_t>(intercepts.size()) == targets, "an intercept for each target",
              [&] { return std::to_string(intercepts.size()); });
  return of.add(product, ml::floats(node, x.type.dtype, {targets}, intercepts));
}

}  // namespace

void import_linear_regressor(NodeImport& node) {
  const Value x = ml::rows_of(node);
  node.output(0, ml::transformed(node, node.cast(linear(node, x, node.integer("targets", 1)), DType::f32)));
}

void import_linear_classifier(NodeImport& node) {
  const NodeOps of(node);
  node.ignore({"multi_class"});
  const ml::Classes classes(node);
  const Value x = ml::rows_of(node);
  const auto given = static_cast<std::int64_t>(node.reals("intercepts").size());
  const auto count = static_cast<std::int64_t>(classes.count());
  // Two classes may have one score, that of the second one.
  const std::int64_t targets = given > 0 ? given : count;
  const Value scores = node.cast(linear(node, x, targets), DType::f32);
  if (targets == 1 && count == 2) {
    const Value is_second = of.less(0, scores);
    node.output(0, classes.labels(node, of.reshape(node.cast(is_second, DType::i64), {x.type.shape[0]})));
    const bool is_logistic = ml::has_transform(node, "LOGISTIC");
    const Value both = of.concat({is_logistic ? of.neg(scores) : of.sub(1, scores), scores}, 1);
    return node.output(1, is_logistic ? of.sigmoid(both) : both);
  }
  node.expect(targets == count, "a score for each class",
              [&] { return std::to_string(targets) + " for " + std::to_string(count); });
  node.output(0, classes.labels(node, of.reduce(Operator::arg_max, scores, {1}, false)));
  node.output(1, ml::transformed(node, scores));
}

}  // namespace ferry::graph::onnx
