#include "host/graph/reference/definition.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "host/graph/kernels/group_program.h"
#include "host/lang/reference/reference.h"

#include <algorithm>

namespace ferry::graph {
namespace {

// Lets a node compute what it is defined as. Returns whether it did not before.
bool reset_algorithm(KernelNode& node) {
  const Attributes before = node.attributes;
  if (auto* conv = std::get_if<ConvAttributes>(&node.attributes)) conv->winograd_tile = 0;
  // Sums that are not scaled are of integers by definition too, but neither packed nor in groups.
  if (auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes)) {
    conv->in_integers = !conv->is_scaled;
    conv->products = {};
  }
  if (auto* matmul = std::get_if<QuantizedMatmulAttributes>(&node.attributes)) {
    matmul->in_integers = !matmul->is_scaled;
    matmul->products = {};
    matmul->lanes = 1;
  }
  return node.attributes != before;
}

GroupDefinition program_of(const GroupKernel& kernel, const NetworkSizes& sizes) {
  GroupDefinition definition{group_program(kernel.key, "kernel"), {}, {}, kernel.arguments};
  std::map<std::string, std::int64_t> values;
  for (std::size_t s = 0; s < kernel.sizes.size(); ++s) values[symbol_name(s)] = value_of(kernel.sizes[s], sizes);
  for (const lang::Expr& symbol : lang::symbols_of(definition.program))
    definition.symbols.push_back(values.at(symbol.as<ir::Var>()->name));
  for (const lang::Parameter& parameter : definition.program.parameters)
    if (parameter.kind == ParameterKind::scalar) definition.scalars.push_back(values.at(parameter.name));
  return definition;
}

}  // namespace

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

GroupDefinition definition_of(const Graph& graph, const Group& group, const NetworkSizes& sizes) {
  GroupKernel kernel = kernel_of(graph, group);
  for (KernelNode& node : kernel.key.nodes) reset_algorithm(node);
  return program_of(kernel, sizes);
}

std::optional<GroupDefinition> algorithm_of(const Graph& graph, const Group& group, const NetworkSizes& sizes) {
  const GroupKernel kernel = kernel_of(graph, group);
  if (std::ranges::none_of(kernel.key.nodes, [](KernelNode node) { return reset_algorithm(node); }))
    return std::nullopt;
  return program_of(kernel, sizes);
}

std::vector<std::vector<std::byte>> evaluate(const Graph& graph, const NetworkSizes& sizes,
                                             const std::vector<std::vector<std::byte>>& inputs) {
  std::vector<std::vector<std::byte>> tensors(graph.tensors.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) tensors[graph.inputs[i]] = inputs[i];
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    if (graph.tensors[t].constant == nullptr) continue;
    const auto bytes = std::as_bytes(graph.tensors[t].constant->bytes);
    tensors[t].assign(bytes.begin(), bytes.end());
  }
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.op == Operator::reshape) {
      tensors[node.outputs[0]] = tensors[node.inputs[0]];
      continue;
    }
    const GroupDefinition definition = program_of(kernel_of(graph, {{n}}), sizes);
    std::vector<const void*> arguments;
    std::size_t next_tensor = 0, next_scalar = 0;
    const std::size_t output = definition.tensors.size() - 1;
    for (const lang::Parameter& parameter : definition.program.parameters) {
      if (parameter.kind == ParameterKind::scalar)
        arguments.push_back(&definition.scalars[next_scalar++]);
      else
        arguments.push_back(tensors[definition.tensors[next_tensor++]].data());
    }
    arguments[output] = nullptr;
    const lang::Reference reference(definition.program, definition.symbols, arguments);
    tensors[definition.tensors[output]] = reference.evaluate_all(output);
  }
  return tensors;
}

}  // namespace ferry::graph
