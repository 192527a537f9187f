// Matrix products.
#include <algorithm>
#include <cmath>
#include <functional>

#include "host/graph/onnx/few_bits.h"
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {

void import_matmul(NodeImport& node) {
  const Value &a = node.input(0), &b = node.input(1);
  if (const std::optional<Value> product = stored_product(node, a, b, false)) return node.output(0, *product);
  node.output(0, NodeOps(node).matmul(a, b));
}

namespace {

// Returns x times a factor. Integers times a fraction are doubles, which the whole sum is rounded from.
Value scaled(const NodeImport& node, const Value& x, double factor) {
  return factor == 1 ? x : node.add(Operator::mul, {x, node.constant(x.type.dtype, factor)});
}

}  // namespace

// alpha * A * B + beta * C; of integers rounded towards zero.
void import_gemm(NodeImport& node) {
  node.ignore({"broadcast"});  // C broadcasts anyway
  const MatmulAttributes transposed = {node.flag("transA", false), node.flag("transB", false)};
  const double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  for (const std::size_t i : {0, 1}) {
    node.expect(node.shape(i).size() == 2, "two matrices", [&] { return to_text(node.shape(i)); });
  }
  std::optional<Value> stored;
  if (!transposed.transposed_a) stored = stored_product(node, node.input(0), node.input(1), transposed.transposed_b);
  Value result = stored ? *stored : NodeOps(node).matmul(node.input(0), node.input(1), transposed);
  const DType dtype = result.type.dtype;
  const bool has_fractions = !is_float(dtype) && (std::floor(alpha) != alpha || std::floor(beta) != beta);
  const DType computed = has_fractions ? DType::f64 : dtype;
  result = scaled(node, node.cast(result, computed), alpha);
  if (node.has_input(2) && beta != 0) {
    const Value c = scaled(node, node.cast(node.input(2), computed), beta);
    const Shape product = result.type.shape;
    result = node.add(Operator::add, {result, c});
    const bool is_same = std::ranges::equal(result.type.shape, product, std::not_fn(proves_different));
    node.expect(is_same, "C to broadcast to " + to_text(product), [&] { return to_text(c.type.shape); });
  }
  node.output(0, node.cast(result, dtype));
}

}  // namespace ferry::graph::onnx
