#include "host/graph/passes/pool_integers.h"

#include "host/graph/passes/dequantized.h"
#include "host/graph/prune.h"

#include <algorithm>
#include <cmath>

namespace ferry::graph {
namespace {

// Whether dequantizing keeps the order of any two elements. An infinite scale or zero point makes NaN of some.
bool keeps_order(const Graph& graph, const Dequantized& dequantized) {
  const std::vector<float> scale = floats_of(graph.tensor(dequantized.scale));
  const std::vector<float> zero =
      dequantized.zero == kNoTensor ? std::vector<float>{0} : floats_of(graph.tensor(dequantized.zero));
  return scale.size() == 1 && scale[0] > 0 && std::isfinite(scale[0]) && zero.size() == 1 && std::isfinite(zero[0]);
}

// Whether no window lies in the padding, whose maximum depends on the type.
bool has_elements_in_all_windows(const PoolAttributes& pool) {
  return std::ranges::all_of(pool.windows, [](const WindowAttributes& window) {
    return window.dilation == 1 && window.pad_before < window.kernel && window.pad_after < window.kernel;
  });
}

}  // namespace

Graph pool_integers(const Graph& graph) {
  const DequantizedTensors dequantized(graph);
  Graph result = graph;
  result.nodes.clear();
  for (const Node& node : graph.nodes) {
    const auto found = node.op == Operator::max_pool ? dequantized.find(node.inputs[0]) : std::nullopt;
    if (!found || !keeps_order(graph, *found) ||
        !has_elements_in_all_windows(std::get<PoolAttributes>(node.attributes))) {
      result.nodes.push_back(node);
      continue;
    }
    const Tensor& pooled = graph.tensor(node.outputs[0]);
    const auto append = [&](DType dtype) {
      result.tensors.push_back({node.name, dtype, pooled.shape});
      return static_cast<TensorId>(result.tensors.size() - 1);
    };
    Node pool = node;
    pool.inputs = {found->integers};
    pool.outputs = {append(graph.tensor(found->integers).dtype)};
    TensorId last = pool.outputs[0];
    result.nodes.push_back(std::move(pool));
    for (const std::size_t index : found->nodes) {
      Node next = graph.nodes[index];
      next.inputs[0] = last;
      last = index == found->nodes.back() ? node.outputs[0] : append(pooled.dtype);
      next.outputs = {last};
      result.nodes.push_back(std::move(next));
    }
  }
  return prune(result);
}

}  // namespace ferry::graph
