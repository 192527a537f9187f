#include "host/graph/passes/fuse_attention.h"

#include "host/autoschedule/attention.h"
#include "host/graph/passes/make_groups.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ferry::graph {
namespace {

// Returns the product of sizes, or 0 if one of them is open.
std::int64_t known_count(Shape::const_iterator begin, Shape::const_iterator end) {
  std::int64_t count = 1;
  for (auto size = begin; size != end; ++size) count *= size->constant().value_or(0);
  return count;
}

bool wants_fusion(const Graph& graph, const Node& product, const Target& target) {
  const Tensor& scores = graph.tensor(product.inputs[0]);
  const Shape& shape = scores.shape;
  if (scores.dtype != DType::f32 || shape.size() < 2) return false;
  // A decoder attends to more keys than it has queries: an open number of these may be 1, of which blocks are no use.
  const Size &queries = shape[shape.size() - 2], &keys = shape.back();
  if (!queries.constant() && !(queries == keys)) return false;
  Shape heads(shape.begin(), shape.end() - 2);
  // Batches of open size are mostly few.
  for (Size& size : heads)
    if (!size.constant()) size = 1;
  return autoschedule::wants_attention({.heads = known_count(heads.begin(), heads.end()),
                                        .queries = queries.constant().value_or(0),
                                        .keys = keys.constant().value_or(0),
                                        .bytes = static_cast<std::int64_t>(dtype_bytes(scores.dtype))},
                                       target);
}

}  // namespace

Graph fuse_attention(Graph graph, const Target& target) {
  std::vector<std::size_t> products;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    auto* matmul = std::get_if<MatmulAttributes>(&graph.nodes[n].attributes);
    if (matmul == nullptr || !wants_fusion(graph, graph.nodes[n], target)) continue;
    matmul->fuses_rows = true;
    products.push_back(n);
  }
  if (products.empty()) return graph;
  // Those whose rows are computed in another way keep kernels of their own.
  for (const Group& group : make_groups(graph)) {
    const auto softmax =
        std::ranges::find(group.nodes, Operator::softmax, [&](std::size_t index) { return graph.nodes[index].op; });
    std::erase_if(products,
                  [&](std::size_t n) { return std::find(softmax, group.nodes.end(), n) != group.nodes.end(); });
  }
  for (const std::size_t n : products) std::get<MatmulAttributes>(graph.nodes[n].attributes).fuses_rows = false;
  return graph;
}

}  // namespace ferry::graph
