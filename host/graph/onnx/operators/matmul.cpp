// Matrix products.
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"

namespace ferry::graph::onnx {

void import_matmul(NodeImport& node) { node.output(0, NodeOps(node).matmul(node.input(0), node.input(1))); }

// alpha * A * B + beta * C
void import_gemm(NodeImport& node) {
  node.ignore({"broadcast"});  // C broadcasts anyway
  const MatmulAttributes transposed = {node.flag("transA", false), node.flag("transB", false)};
  const double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  for (const std::size_t i : {0, 1}) {
    node.expect(node.shape(i).size() == 2, "two matrices", [&] { return to_text(node.shape(i)); });
  }
  Value result = NodeOps(node).matmul(node.input(0), node.input(1), transposed);
  const DType dtype = result.type.dtype;
  if (alpha != 1) result = node.add(Operator::mul, {result, node.constant(dtype, alpha)});
  if (node.has_input(2) && beta != 0) {
    Value c = node.input(2);
    if (beta != 1) c = node.add(Operator::mul, {c, node.constant(dtype, beta)});
    const Shape product = result.type.shape;
    result = node.add(Operator::add, {result, c});
    node.expect(result.type.shape == product, "C to broadcast to " + to_text(product),
                [&] { return to_text(c.type.shape); });
  }
  node.output(0, result);
}

}  // namespace ferry::graph::onnx
