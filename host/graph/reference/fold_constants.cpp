#include "host/graph/reference/fold_constants.h"

#include "crosscompile/ir/error.h"
#include "host/graph/operator_kind.h"
#include "host/graph/prune.h"
#include "host/graph/reference/definition.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace ferry::graph {
namespace {

// Loop iterations of the reference for all nodes together, about a second.
constexpr double kMostWork = 5e7;

bool is_constant(const Graph& graph, TensorId id) { return id == kNoTensor || graph.tensor(id).constant != nullptr; }

std::optional<std::int64_t> known_bytes(const Tensor& tensor) {
  const std::optional<std::int64_t> elements = element_count(tensor.shape).constant();
  if (!elements) return std::nullopt;
  return *elements * static_cast<std::int64_t>(dtype_bytes(tensor.dtype));
}

// Whether a tensor has weights of few bits or bytes, which stay as narrow as they are until they are computed with.
bool is_narrow_weight(const Tensor& tensor) {
  constexpr std::int64_t kFew = 1024;
  return tensor.dtype != DType::boolean && dtype_bytes(tensor.dtype) == 1 && known_bytes(tensor).value_or(0) > kFew;
}

bool is_foldable(const Graph& graph, const Node& node) {
  if (!has_kernel(node) || kind_of(node.op) == OperatorKind::control || node.outputs.size() != 1 ||
      node.inputs.empty() || !std::ranges::all_of(node.inputs, [&](TensorId id) { return is_constant(graph, id); }))
    return false;
  const std::optional<std::int64_t> result = known_bytes(graph.tensor(node.outputs[0]));
  std::int64_t inputs = 0;
  for (const TensorId id : node.inputs) {
    if (id == kNoTensor) continue;
    if (is_narrow_weight(graph.tensor(id))) return false;
    inputs += known_bytes(graph.tensor(id)).value_or(0);
  }
  return result && *result <= inputs;
}

}  // namespace

Graph fold_constants(Graph graph) {
  double work = kMostWork;
  std::vector<Node> kept;
  const std::vector<Node> nodes = graph.nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    std::optional<std::vector<std::byte>> bytes;
    try {
      if (is_foldable(graph, nodes[n])) bytes = evaluate_constant(graph, n, work);
    } catch (const CompileError&) {
      // An index that is out of bounds is reported by the call.
    }
    if (!bytes) {
      kept.push_back(nodes[n]);
      continue;
    }
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes->data());
    const auto owner = std::make_shared<std::vector<std::uint8_t>>(data, data + bytes->size());
    graph.tensors[nodes[n].outputs[0]].constant = std::make_shared<ConstantData>(ConstantData{*owner, owner});
  }
  if (kept.size() == nodes.size()) return graph;
  graph.nodes = std::move(kept);
  return prune(graph);
}

}  // namespace ferry::graph
