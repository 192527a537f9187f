// Normalisations, softmax, and dropout, which networks that are not being trained leave out.
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

void expect_no_training(NodeImport& node, bool trains) {
  if (trains) node.refuse("a network for inference", "training mode");
}

// Takes the statistics of the batch itself, and moves the running ones towards them.
void batch_norm_of_batch(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const Shape& shape = x.type.shape;
  node.expect(shape.size() >= 2, "an input with channels", [&] { return to_text(shape); });
  std::vector<std::size_t> others = {0};
  for (std::size_t d = 2; d < shape.size(); ++d) others.push_back(d);
  const Value wide = of.widened(x), mean = of.reduce(Operator::reduce_mean, wide, others);
  const Value difference = of.sub(wide, mean);
  const Value variance = of.reduce(Operator::reduce_mean, of.mul(difference, difference), others);
  Shape channels(shape.size() - 1, 1);
  channels[0] = shape[1];
  const auto each = [&](std::size_t i) { return of.reshape(node.cast(node.input(i), wide.type.dtype), channels); };
  const Value deviation = of.sqrt(of.add(variance, node.real("epsilon", 1e-5)));
  node.output(0, node.cast(of.add(of.mul(of.div(difference, deviation), each(1)), each(2)), x.type.dtype));
  const double momentum = node.real("momentum", 0.9);
  const auto moved = [&](std::size_t i, const Value& statistic) {
    const DType dtype = node.input(i).type.dtype;
    const Value now = node.cast(of.reshape(statistic, node.shape(i)), dtype);
    return of.add(of.mul(node.input(i), momentum), of.mul(now, 1 - momentum));
  };
  node.output(1, moved(3, mean));
  node.output(2, moved(4, variance));
}

}  // namespace

void import_batch_norm(NodeImport& node) {
  node.ignore({"momentum"});
  if (node.opset() < 7) expect_no_training(node, !node.flag("is_test", false) && node.output_count() > 1);
  if (node.opset() < 9 && !node.flag("spatial", true)) node.refuse("statistics of channels", "spatial = 0");
  if (node.opset() >= 14 && node.flag("training_mode", false)) return batch_norm_of_batch(node);
  const BatchNormAttributes norm = {node.real("epsilon", 1e-5)};
  node.output(0, node.add(Operator::batch_norm,
                          {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)}, norm));
}

void import_layer_norm(NodeImport& node) {
  const Value &x = node.input(0), &scale = node.input(1);
  const LayerNormAttributes norm = {node.dimension(node.integer("axis", -1), x.type.shape.size()),
                                    node.real("epsilon", 1e-5)};
  const std::int64_t stash_type = node.integer("stash_type", 1);
  node.expect(stash_type == 1, "a stash_type of 1, float", [&] { return std::to_string(stash_type); });
  const Shape inner(x.type.shape.begin() + static_cast<std::ptrdiff_t>(norm.dimension), x.type.shape.end());
  const auto repeated = [&](const Value& value) {
    return value.type.shape == inner ? value : node.add(Operator::broadcast, {value}, BroadcastAttributes{inner});
  };
  const Value bias = node.has_input(2) ? node.input(2) : node.constant(x.type.dtype, 0);
  node.output(0, node.add(Operator::layer_norm, {x, repeated(scale), repeated(bias)}, norm));
  output_moments(node, norm.dimension, norm.epsilon);
}

void import_softmax(NodeImport& node) {
  const Value& x = node.input(0);
  const std::size_t rank = x.type.shape.size();
  const std::size_t axis = node.dimension(node.integer("axis", node.opset() < 13 ? 1 : -1), rank);
  const bool is_log = node.op() == "LogSoftmax";
  Value value = x;
  std::size_t dimension = axis;
  if (node.opset() < 13 && axis + 1 != rank) {
    // Before opset 13 all dimensions from the axis on are one.
    const auto begin = x.type.shape.begin();
    const auto at = begin + static_cast<std::ptrdiff_t>(axis);
    value = node.reshape(x, {element_count(Shape(begin, at)), element_count(Shape(at, x.type.shape.end()))});
    dimension = 1;
  }
  value = is_log ? NodeOps(node).log_softmax(value, dimension) : NodeOps(node).softmax(value, dimension);
  node.output(0, node.reshape(value, x.type.shape));
}

void import_dropout(NodeImport& node) {
  node.ignore({"ratio", "seed"});
  // The first opsets say so by an attribute, of which exporters leave the default in networks for inference.
  if (node.opset() < 7) node.ignore({"is_test"});
  // In training mode nothing is dropped either where the ratio is 0.
  const bool trains = node.has_input(2) && node.scalar(2, "the training mode") != 0;
  expect_no_training(node, trains && (!node.has_input(1) || node.scalar(1, "the ratio") != 0));
  node.output(0, node.input(0));
  // All elements are kept. Before opset 10 the mask has the input's type.
  const DType mask = node.opset() < 10 ? node.input(0).type.dtype : DType::boolean;
  if (node.has_output(1)) node.output(1, NodeOps(node).filled({mask, node.shape(0)}, 1));
}

}  // namespace ferry::graph::onnx
