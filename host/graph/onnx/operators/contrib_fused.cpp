// com.microsoft's operators in which ONNX Runtime's optimizer joins several of ONNX's.
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace ferry::graph::onnx {
namespace {

// Returns an input, plus the bias if that is given.
Value with_bias(const NodeImport& node, const Value& x, std::size_t bias) {
  return node.has_input(bias) ? NodeOps(node).add(x, node.input(bias)) : x;
}

// Exchanges the dimension of the rows with all batch dimensions before it: [M, batch..., K] as [batch..., M, K].
Value with_batch_first(NodeImport& node, const Value& x) {
  const std::size_t rank = x.type.shape.size();
  node.expect(rank >= 2, "a matrix", [&] { return to_text(x.type); });
  std::vector<std::size_t> order = dimensions_from(1, rank - 1);
  order.push_back(0);
  order.push_back(rank - 1);
  return NodeOps(node).transpose(x, order);
}

}  // namespace

// x / 2 * (1 + erf(x / sqrt(2))), of x with a bias
void import_bias_gelu(NodeImport& node) {
  const NodeOps of(node);
  const Value x = with_bias(node, node.input(0), 1);
  node.output(0, of.mul(of.mul(x, 0.5), of.add(of.erf(of.mul(x, 1 / std::numbers::sqrt2)), 1)));
}

void import_fast_gelu(NodeImport& node) {
  const NodeOps of(node);
  const Value x = with_bias(node, node.input(0), 1), cube = of.mul(of.mul(x, x), x);
  const Value inner = of.mul(of.add(x, of.mul(cube, 0.044715)), std::sqrt(2 / std::numbers::pi));
  node.output(0, of.mul(of.mul(x, 0.5), of.add(of.tanh(inner), 1)));
}

void import_quick_gelu(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  node.output(0, of.mul(x, of.sigmoid(of.mul(x, node.real("alpha", 1.702)))));
}

void import_fused_matmul(NodeImport& node) {
  const NodeOps of(node);
  const Value a = node.flag("transBatchA", false) ? with_batch_first(node, node.input(0)) : node.input(0);
  const Value b = node.flag("transBatchB", false) ? with_batch_first(node, node.input(1)) : node.input(1);
  const Value product = of.matmul(a, b, {node.flag("transA", false), node.flag("transB", false)});
  const double alpha = node.real("alpha", 1);
  node.output(0, alpha == 1 ? product : of.mul(product, alpha));
}

// Normalises the sum of two tensors, and of a bias. The simplified one divides by the root of the mean of the squares.
void import_skip_layer_norm(NodeImport& node) {
  const NodeOps of(node);
  const bool is_simplified = node.op() == "SkipSimplifiedLayerNormalization";
  const Value sum = with_bias(node, of.add(node.input(0), node.input(1)), is_simplified ? 3 : 4);
  const Shape& shape = sum.type.shape;
  node.expect(!shape.empty(), "a tensor of rank 1 or more", [&] { return to_text(shape); });
  const std::size_t last = shape.size() - 1;
  const double epsilon = node.real("epsilon", 1e-12);
  node.output(3, sum);
  if (is_simplified) {
    const Value wide = of.widened(sum);
    const Value square = of.reduce(Operator::reduce_mean, of.mul(wide, wide), {last});
    const Value norm = node.cast(of.div(wide, of.sqrt(of.add(square, epsilon))), sum.type.dtype);
    return node.output(0, of.mul(norm, node.input(2)));
  }
  const Value bias = node.has_input(3) ? node.input(3) : of.filled({sum.type.dtype, {shape[last]}}, 0);
  node.output(0, node.add(Operator::layer_norm, {sum, node.input(2), bias}, LayerNormAttributes{last, epsilon}));
}

}  // namespace ferry::graph::onnx
