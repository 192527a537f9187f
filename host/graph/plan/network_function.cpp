#include "host/graph/plan/network_function.h"

#include "base/printable.h"

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

FunctionInfo describe(const Graph& graph) {
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
  for (std::uint32_t s = 0; s < graph.symbols.size(); ++s) {
    const ManifestExpr holds = manifest_apply(ManifestOp::le, {manifest_constant(1), manifest_symbol(s)});
    function.preconditions.push_back({holds, graph.symbols[s] + " must be at least 1"});
  }
  return function;
}

ManifestExpr bytes_of(const Graph& graph, const Tensor& tensor) {
  return to_manifest(element_count(stored_shape(tensor)) * Size(static_cast<std::int64_t>(dtype_bytes(tensor.dtype))),
                     graph.symbols);
}

TensorStorages assign_storages(const Graph& graph) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  TensorStorages result;
  result.of_tensor.assign(graph.tensors.size(), kNone);
  const auto add = [&](TensorId id, Storage storage) {
    result.of_tensor[id] = static_cast<std::uint32_t>(result.storages.size());
    result.storages.push_back(std::move(storage));
  };
  for (std::uint32_t i = 0; i < graph.inputs.size(); ++i)
    if (result.of_tensor[graph.inputs[i]] == kNone) add(graph.inputs[i], {Storage::Kind::argument, i});
  const auto use_constant = [&](TensorId id) {
    if (id == kNoTensor || graph.tensor(id).constant == nullptr || result.of_tensor[id] != kNone) return;
    add(id, {Storage::Kind::constant, static_cast<std::uint32_t>(result.constants.size())});
    result.constants.push_back(id);
  };
  for (const Node& node : graph.nodes) std::ranges::for_each(node.inputs, use_constant);
  std::ranges::for_each(graph.outputs, use_constant);
  for (const Node& node : graph.nodes) {
    for (const TensorId output : node.outputs) {
      if (node.op == Operator::reshape)
        result.of_tensor[output] = result.of_tensor[node.inputs[0]];
      else
        add(output, {Storage::Kind::arena, 0, bytes_of(graph, graph.tensor(output))});
    }
  }
  for (std::size_t o = 0; o < graph.outputs.size(); ++o) {
    const TensorId id = graph.outputs[o];
    const auto parameter = static_cast<std::uint32_t>(graph.inputs.size() + o);
    Storage& storage = result.storages[result.of_tensor[id]];
    if (storage.kind == Storage::Kind::arena) {
      storage = {Storage::Kind::argument, parameter};
      continue;
    }
    result.copies.push_back(
        {static_cast<std::uint32_t>(result.storages.size()), result.of_tensor[id], bytes_of(graph, graph.tensor(id))});
    result.storages.push_back({Storage::Kind::argument, parameter});
  }
  return result;
}

}  // namespace ferry::graph
