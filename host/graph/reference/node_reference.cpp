#include "host/graph/reference/node_reference.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "host/graph/kernels/node_program.h"

namespace ferry::graph {

std::int64_t value_of(const Size& size, const NetworkSizes& sizes) {
  std::vector<std::string> names;
  std::vector<std::int64_t> values;
  for (const auto& [name, value] : sizes) {
    names.push_back(name);
    values.push_back(value);
  }
  const Result<std::int64_t> result = ferry::evaluate(to_manifest(size, names), values);
  if (!result.is_ok()) throw CompileError("the size " + to_text(size) + ": " + result.status().message());
  return result.value();
}

NodeReference::NodeReference(const Graph& graph, const Node& node, const NetworkSizes& sizes,
                             std::vector<const void*> inputs) {
  const NodeKernel kernel = kernel_of(graph, node);
  program_ = node_program(kernel.key, "kernel");
  std::map<std::string, std::int64_t> values;
  for (std::size_t s = 0; s < kernel.sizes.size(); ++s) values[symbol_name(s)] = value_of(kernel.sizes[s], sizes);
  scalars_.reserve(program_.parameters.size());
  std::vector<const void*> arguments;
  for (std::size_t p = 0; p < program_.parameters.size(); ++p) {
    const lang::Parameter& parameter = program_.parameters[p];
    if (parameter.kind == ParameterKind::scalar) {
      scalars_.push_back(values.at(parameter.name));
      arguments.push_back(&scalars_.back());
    } else if (parameter.direction == Direction::out) {
      output_ = p;
      arguments.push_back(nullptr);
    } else {
      arguments.push_back(inputs.at(p));
    }
  }
  std::vector<std::int64_t> symbols;
  for (const lang::Expr& symbol : lang::symbols_of(program_)) symbols.push_back(values.at(symbol.as<ir::Var>()->name));
  reference_ = std::make_unique<const lang::Reference>(program_, std::move(symbols), std::move(arguments));
}

NodeReference::~NodeReference() = default;

std::vector<std::vector<std::byte>> evaluate(const Graph& graph, const NetworkSizes& sizes,
                                             const std::vector<std::vector<std::byte>>& inputs) {
  std::vector<std::vector<std::byte>> tensors(graph.tensors.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) tensors[graph.inputs[i]] = inputs[i];
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (graph.tensors[t].constant == nullptr) continue;
    const auto bytes = std::as_bytes(graph.tensors[t].constant->bytes);
    tensors[t].assign(bytes.begin(), bytes.end());
  }
  for (const Node& node : graph.nodes) {
    std::vector<std::byte>& output = tensors[node.outputs[0]];
    if (node.op == Operator::reshape) {
      output = tensors[node.inputs[0]];
      continue;
    }
    std::vector<const void*> contents;
    for (const TensorId input : node.inputs)
      if (input != kNoTensor) contents.push_back(tensors[input].data());
    const NodeReference reference(graph, node, sizes, std::move(contents));
    output = reference.reference().evaluate_all(reference.output());
  }
  return tensors;
}

}  // namespace ferry::graph
