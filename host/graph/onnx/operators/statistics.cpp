// Normalisations that are built from reductions and elementwise functions.
#include <algorithm>

#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {
namespace {

Value mean_over(const NodeImport& node, const Value& x, std::vector<std::size_t> dimensions) {
  return NodeOps(node).reduce(Operator::reduce_mean, x, std::move(dimensions));
}

// x minus its mean over these dimensions.
Value centered(const NodeImport& node, const Value& x, const std::vector<std::size_t>& dimensions) {
  return NodeOps(node).sub(x, mean_over(node, x, dimensions));
}

// The square root of the mean of the squares, with epsilon added to the mean.
Value root_mean_square(const NodeImport& node, const Value& x, const std::vector<std::size_t>& dimensions,
                       double epsilon) {
  const NodeOps of(node);
  return of.sqrt(of.add(mean_over(node, of.mul(x, x), dimensions), epsilon));
}

Value standardized(const NodeImport& node, const Value& x, const std::vector<std::size_t>& dimensions, double epsilon) {
  const Value difference = centered(node, x, dimensions);
  return NodeOps(node).div(difference, root_mean_square(node, difference, dimensions, epsilon));
}

// Multiplies by a scale and adds a bias, one of each for an entry of dimension 1.
Value scaled(const NodeImport& node, const Value& x, const Value& scale, const Value& bias) {
  Shape channels(x.type.shape.size() - 1, 1);
  for (const Value& value : {scale, bias}) {
    node.expect(value.type.shape.size() == 1, "scale and bias of rank 1", [&] { return to_text(value.type); });
  }
  channels[0] = scale.type.shape[0];
  const NodeOps of(node);
  return of.add(of.mul(x, of.reshape(scale, channels)), of.reshape(bias, channels));
}

void expect_channels(const NodeImport& node) {
  node.expect(node.shape(0).size() >= 3, "an input of rank 3 or more", [&] { return to_text(node.shape(0)); });
}

}  // namespace

void import_instance_norm(NodeImport& node) {
  expect_channels(node);
  const Value& x = node.input(0);
  const std::vector<std::size_t> spatial = dimensions_from(2, x.type.shape.size());
  const Value value = standardized(node, x, spatial, node.real("epsilon", 1e-5));
  node.output(0, scaled(node, value, node.input(1), node.input(2)));
}

// Before opset 21 scale and bias have an entry for each group.
void import_group_norm(NodeImport& node) {
  expect_channels(node);
  node.ignore({"stash_type"});
  const Value& x = node.input(0);
  const std::int64_t groups = node.integer("num_groups");
  const std::optional<Size> each = groups > 0 ? divide_exactly(x.type.shape[1], groups) : std::nullopt;
  node.expect(each.has_value(), "a number of groups that divides the channels", [&] { return std::to_string(groups); });
  const Shape inner(x.type.shape.begin() + 2, x.type.shape.end());
  const Shape grouped = {x.type.shape[0], groups, *each * element_count(inner)};
  Value value = standardized(node, node.reshape(x, grouped), {2}, node.real("epsilon", 1e-5));
  if (node.opset() < 21) value = scaled(node, value, node.input(1), node.input(2));
  value = node.reshape(value, x.type.shape);
  node.output(0, node.opset() < 21 ? value : scaled(node, value, node.input(1), node.input(2)));
}

void import_rms_norm(NodeImport& node) {
  node.ignore({"stash_type"});
  const Value& x = node.input(0);
  const std::size_t rank = x.type.shape.size();
  const std::size_t axis = node.dimension(node.integer("axis", -1), rank);
  const Value norm = root_mean_square(node, x, dimensions_from(axis, rank), node.real("epsilon", 1e-5));
  const NodeOps of(node);
  node.output(0, of.mul(of.div(x, norm), node.input(1)));
  if (node.has_output(1)) node.output(1, of.div(1, of.widened(norm)));
}

void import_mean_variance_norm(NodeImport& node) {
  const Value& x = node.input(0);
  std::vector<std::size_t> dimensions;
  for (const std::int64_t axis : node.integers("axes", std::vector<std::int64_t>{0, 2, 3})) {
    dimensions.push_back(node.dimension(axis, x.type.shape.size()));
  }
  std::sort(dimensions.begin(), dimensions.end());
  const Value difference = centered(node, x, dimensions);
  const Value deviation = root_mean_square(node, difference, dimensions, 0);
  const NodeOps of(node);
  node.output(0, of.div(difference, of.add(deviation, 1e-9)));
}

// The mean and the reciprocal of the standard deviation, which layer normalisation gives beside its result.
void output_moments(NodeImport& node, std::size_t axis, double epsilon) {
  const Value& x = node.input(0);
  const std::vector<std::size_t> dimensions = dimensions_from(axis, x.type.shape.size());
  if (node.has_output(1)) node.output(1, mean_over(node, x, dimensions));
  if (!node.has_output(2)) return;
  const Value deviation = root_mean_square(node, centered(node, x, dimensions), dimensions, epsilon);
  node.output(2, NodeOps(node).div(1, deviation));
}

// x / (bias + alpha / size * sum of squares of neighbouring channels) ^ beta
void import_lrn(NodeImport& node) {
  expect_channels(node);
  const Value& x = node.input(0);
  const std::int64_t size = node.integer("size");
  node.expect(size > 0, "a positive size", [&] { return std::to_string(size); });
  const double alpha = node.real("alpha", 1e-4), beta = node.real("beta", 0.75), bias = node.real("bias", 1);
  const Shape& shape = x.type.shape;
  const Shape flat = {shape[0], 1, shape[1], element_count(Shape(shape.begin() + 2, shape.end()))};
  const WindowAttributes channels = {size, 1, 1, (size - 1) / 2, size / 2};
  const NodeOps of(node);
  const Value squares = of.reshape(of.mul(x, x), flat);
  const PoolAttributes pool = {{channels, {}}, false, true};
  const Value mean = node.reshape(node.add(Operator::average_pool, {squares}, pool), shape);
  const Value base = of.add(of.mul(mean, alpha), bias);
  node.output(0, of.div(x, of.pow(base, beta)));
}

// x / its norm, and 0 where the norm is 0
void import_lp_norm(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const std::size_t d = node.dimension(node.integer("axis", -1), x.type.shape.size());
  const std::int64_t p = node.integer("p", 2);
  node.expect(p == 1 || p == 2, "a p of 1 or 2", [&] { return std::to_string(p); });
  const Value sum = of.reduce(Operator::reduce_sum, p == 1 ? of.abs(x) : of.mul(x, x), {d});
  const Value norm = p == 1 ? sum : of.sqrt(sum);
  node.output(0, of.div(x, of.where(of.equal(norm, 0), of.number(x, 1), norm)));
}

}  // namespace ferry::graph::onnx
