#include "host/graph/plan/network_function.h"

#include "base/printable.h"
#include "ferry/error.h"
#include "host/graph/empty_sizes.h"
#include "host/graph/plan/byte_ranges.h"

#include <algorithm>
#include <set>

namespace ferry::graph {
namespace {

// Names of tensors are names of parameters as far as these may be called so.
class ParameterNames {
 public:
  std::string name(const std::string& tensor) {
    constexpr std::size_t kRoomForNumber = 12;
    const std::string given = tensor.empty() ? "tensor" : printable(tensor.substr(0, kMaxNameBytes / 5));
    std::string name = given.substr(0, kMaxNameBytes - kRoomForNumber);
    for (int copy = 2; !taken_.insert(name).second; ++copy) name = given + "." + std::to_string(copy);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

ParameterInfo parameter_of(const Graph& graph, const Tensor& tensor, const std::string& name, Direction direction,
                           ParameterNames& names) {
  ParameterInfo parameter;
  parameter.name = names.name(name);
  parameter.dtype = tensor.dtype;
  parameter.direction = direction;
  for (const Size& size : stored_shape(tensor)) parameter.shape.push_back(to_manifest(size, graph.symbols));
  return parameter;
}

}  // namespace

FunctionInfo describe_network(const Graph& graph) {
  FunctionInfo function;
  function.name = graph.name.empty() ? "network" : printable(graph.name.substr(0, kMaxNameBytes / 5));
  function.symbols = graph.symbols;
  ParameterNames names;
  for (const TensorId id : graph.inputs) {
    const Tensor& tensor = graph.tensor(id);
    function.parameters.push_back(parameter_of(graph, tensor, tensor.name, Direction::in, names));
  }
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    const Tensor& tensor = graph.tensor(graph.outputs[o]);
    function.parameters.push_back(parameter_of(graph, tensor, graph.output_names[o], Direction::out, names));
  }
  // Everything computed from the sizes relies on it (size.h).
  const std::vector<bool> may_be_zero = sizes_that_may_be_zero(graph);
  for (std::uint32_t s = 0; s < graph.symbols.size(); ++s) {
    if (may_be_zero[s]) continue;
    const ManifestExpr holds = manifest_apply(ManifestOp::le, {manifest_constant(1), manifest_symbol(s)});
    function.preconditions.push_back({holds, graph.symbols[s] + " must be at least 1"});
  }
  for (const Requirement& requirement : graph.requirements) {
    const ManifestExpr holds = manifest_apply(
        ManifestOp::eq, {to_manifest(requirement.left, graph.symbols), to_manifest(requirement.right, graph.symbols)});
    function.preconditions.push_back({holds, requirement.message});
  }
  if (function.preconditions.size() > kMaxPreconditions)
    throw CompileError("expected at most " + std::to_string(kMaxPreconditions) +
                       " conditions on the sizes of the network's inputs, got more; fix some of its sizes");
  return function;
}

ManifestExpr bytes_of(const Graph& graph, const Tensor& tensor) {
  return to_manifest(byte_count(tensor), graph.symbols);
}

}  // namespace ferry::graph
