// Convolutions and pooling: operators whose windows move over the spatial dimensions.
#include "host/graph/onnx/node_ops.h"
#include "host/graph/onnx/operators.h"
#include "host/graph/onnx/windows.h"

namespace ferry::graph::onnx {
namespace {

void import_pool(NodeImport& node, Operator op, PoolAttributes pool) {
  pool.windows = read_windows(node, node.shape(0), node.integers("kernel_shape"));
  pool.ceil = node.flag("ceil_mode", false);
  node.output(0, node.add(op, {node.input(0)}, pool));
}

double read_p(NodeImport& node) {
  const std::int64_t p = node.integer("p", 2);
  node.expect(p > 0, "a positive p", [&] { return std::to_string(p); });
  return static_cast<double>(p);
}

// Returns the absolute value to the power of p.
Value powers(const NodeImport& node, const Value& x, double p) {
  const NodeOps of(node);
  if (p == 2) return of.mul(x, x);
  return p == 1 ? of.abs(x) : of.pow(of.abs(x), p);
}

Value root(const NodeImport& node, const Value& x, double p) {
  const NodeOps of(node);
  if (p == 2) return of.sqrt(x);
  return p == 1 ? x : of.pow(x, 1 / p);
}

}  // namespace

void import_conv(NodeImport& node) {
  const ConvAttributes conv = read_convolution(node, 0, 1);
  std::vector<Value> inputs = {node.input(0), node.input(1)};
  if (node.has_input(2)) inputs.push_back(node.input(2));
  node.output(0, node.add(Operator::conv, inputs, conv));
}

void import_max_pool(NodeImport& node) {
  node.ignore({"storage_order"});  // of the indices, which are not computed
  import_pool(node, Operator::max_pool, {});
}

void import_average_pool(NodeImport& node) {
  PoolAttributes pool;
  pool.count_padding = node.flag("count_include_pad", false);
  import_pool(node, Operator::average_pool, pool);
}

void import_global_pool(NodeImport& node) {
  ReduceAttributes reduce = {{}, true};
  for (std::size_t d = 2; d < node.shape(0).size(); ++d) reduce.dimensions.push_back(d);
  const Operator op = node.op() == "GlobalMaxPool" ? Operator::reduce_max : Operator::reduce_mean;
  node.output(0, node.add(op, {node.input(0)}, reduce));
}

// The pth root of the sum of pth powers, which a convolution with ones computes for each channel alone.
void import_lp_pool(NodeImport& node) {
  const NodeOps of(node);
  const Value& x = node.input(0);
  const Shape& shape = x.type.shape;
  const std::vector<std::int64_t> kernel = node.integers("kernel_shape");
  std::vector<WindowAttributes> windows = read_windows(node, shape, kernel);
  const bool ceil = node.flag("ceil_mode", false);
  Shape filter = {1, 1}, images = {shape[0] * shape[1], 1};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    // The last window may exceed the padded input, which adds nothing.
    if (ceil) windows[i].pad_after += windows[i].stride - 1;
    filter.push_back(kernel[i]);
    images.push_back(shape[i + 2]);
  }
  const Value sum = node.add(Operator::conv,
                             {of.reshape(powers(node, x, read_p(node)), images), of.filled({x.type.dtype, filter}, 1)},
                             ConvAttributes{windows, 1});
  Shape result = {shape[0], shape[1]};
  result.insert(result.end(), sum.type.shape.begin() + 2, sum.type.shape.end());
  node.output(0, of.reshape(root(node, sum, read_p(node)), result));
}

void import_global_lp_pool(NodeImport& node) {
  const Value& x = node.input(0);
  const std::size_t rank = x.type.shape.size();
  node.expect(rank >= 2, "an input with channels", [&] { return to_text(x.type); });
  const Value sum = NodeOps(node).reduce(Operator::reduce_sum, powers(node, x, read_p(node)), dimensions_from(2, rank));
  node.output(0, root(node, sum, read_p(node)));
}

}  // namespace ferry::graph::onnx
