#include "host/graph/reference/definition.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "host/graph/kernels/group_program.h"
#include "host/graph/loops.h"
#include "host/lang/reference/reference.h"

#include <algorithm>

namespace ferry::graph {
namespace {

// Lets a node compute what it is defined as. Returns whether it did not before.
bool reset_algorithm(KernelNode& node) {
  const Attributes before = node.attributes;
  if (auto* conv = std::get_if<ConvAttributes>(&node.attributes)) conv->winograd_tile = 0;
  if (auto* matmul = std::get_if<MatmulAttributes>(&node.attributes)) matmul->fuses_rows = false;
  // Sums that are not scaled are of integers by definition too, but neither packed nor in groups.
  if (auto* conv = std::get_if<QuantizedConvAttributes>(&node.attributes)) {
    conv->in_integers = !conv->is_scaled;
    conv->products = {};
    conv->conv.winograd_tile = 0;
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

class Evaluation {
 public:
  Evaluation(const Graph& graph, const Loops& loops, const NetworkSizes& sizes,
             std::vector<std::vector<std::byte>>& tensors)
      : graph_(graph), loops_(loops), sizes_(sizes), tensors_(tensors) {}

  // Computes the nodes of this range.
  void run(std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      const Node& node = graph_.nodes[n];
      if (node.op == Operator::loop) {
        const Loop& loop = loops_.all()[loops_.bracketed_by(n)];
        run_loop(loop);
        n = loop.end;
      } else if (node.op == Operator::reshape) {
        tensors_[node.outputs[0]] = tensors_[node.inputs[0]];
      } else {
        run_node(n);
      }
    }
  }

 private:
  void run_loop(const Loop& loop) {
    const Node &begin = graph_.nodes[loop.begin], &end = graph_.nodes[loop.end];
    const std::size_t states = states_of(begin);
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(value_of(loop_of(begin).count, sizes_), 0));
    const auto entry = [&](const Node& node, std::size_t i, std::size_t iteration) {
      return loop_of(node).tensors[i - states].is_backwards ? count - 1 - iteration : iteration;
    };
    std::vector<std::vector<std::byte>> state, whole(end.inputs.size());
    for (std::size_t s = 0; s < states; ++s) state.push_back(tensors_[begin.inputs[s]]);
    for (std::size_t i = states; i < end.inputs.size(); ++i) {
      const Tensor& tensor = graph_.tensor(end.outputs[i]);
      const std::int64_t elements = std::max<std::int64_t>(value_of(element_count(tensor.shape), sizes_), 0);
      whole[i].resize(static_cast<std::size_t>(elements) * dtype_bytes(tensor.dtype));
    }
    for (std::size_t iteration = 0; iteration < count; ++iteration) {
      if (loop_of(begin).has_condition && state[0][0] == std::byte{0}) break;
      for (std::size_t s = 0; s < states; ++s) tensors_[begin.outputs[s]] = state[s];
      for (std::size_t i = states; i < begin.inputs.size(); ++i) {
        const std::vector<std::byte>& from = tensors_[begin.inputs[i]];
        const std::size_t bytes = from.size() / count;
        const auto first = from.begin() + static_cast<std::ptrdiff_t>(entry(begin, i, iteration) * bytes);
        tensors_[begin.outputs[i]].assign(first, first + static_cast<std::ptrdiff_t>(bytes));
      }
      run(loop.begin + 1, loop.end);
      for (std::size_t s = 0; s < states; ++s) state[s] = tensors_[end.inputs[s]];
      for (std::size_t i = states; i < end.inputs.size(); ++i) {
        const std::vector<std::byte>& from = tensors_[end.inputs[i]];
        std::ranges::copy(from, whole[i].begin() + static_cast<std::ptrdiff_t>(entry(end, i, iteration) * from.size()));
      }
    }
    for (std::size_t i = 0; i < end.inputs.size(); ++i) tensors_[end.outputs[i]] = i < states ? state[i] : whole[i];
  }

  void run_node(std::size_t n) {
    const GroupDefinition definition = program_of(kernel_of(graph_, {{n}}, false), sizes_);
    std::vector<const void*> arguments;
    std::size_t next_tensor = 0, next_scalar = 0;
    const std::size_t output = definition.tensors.size() - 1;
    for (const lang::Parameter& parameter : definition.program.parameters) {
      if (parameter.kind == ParameterKind::scalar)
        arguments.push_back(&definition.scalars[next_scalar++]);
      else
        arguments.push_back(tensors_[definition.tensors[next_tensor++]].data());
    }
    arguments[output] = nullptr;
    const lang::Reference reference(definition.program, definition.symbols, arguments);
    tensors_[definition.tensors[output]] = reference.evaluate_all(output);
  }

  const Graph& graph_;
  const Loops& loops_;
  const NetworkSizes& sizes_;
  std::vector<std::vector<std::byte>>& tensors_;
};

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
  GroupKernel kernel = kernel_of(graph, group, false);
  for (KernelNode& node : kernel.key.nodes) reset_algorithm(node);
  return program_of(kernel, sizes);
}

std::optional<GroupDefinition> algorithm_of(const Graph& graph, const Group& group, const NetworkSizes& sizes) {
  const GroupKernel kernel = kernel_of(graph, group, false);
  if (std::ranges::none_of(kernel.key.nodes, [](KernelNode node) { return reset_algorithm(node); }))
    return std::nullopt;
  return program_of(kernel, sizes);
}

std::optional<std::vector<std::byte>> evaluate_constant(const Graph& graph, std::size_t node, double& work) {
  const GroupDefinition definition = program_of(kernel_of(graph, {{node}}, false), {});
  std::vector<const void*> arguments;
  std::size_t next_tensor = 0, next_scalar = 0;
  for (const lang::Parameter& parameter : definition.program.parameters) {
    if (parameter.kind == ParameterKind::scalar) {
      arguments.push_back(&definition.scalars[next_scalar++]);
      continue;
    }
    const auto& constant = graph.tensor(definition.tensors[next_tensor++]).constant;
    arguments.push_back(constant == nullptr ? nullptr : constant->bytes.data());
  }
  const std::size_t output = arguments.size() - 1;
  const lang::Reference reference(definition.program, definition.symbols, arguments);
  const double cost = reference.work(output);
  if (cost > work) return std::nullopt;
  work -= cost;
  return reference.evaluate_all(output);
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
  for (const Requirement& requirement : graph.requirements)
    if (value_of(requirement.left, sizes) != value_of(requirement.right, sizes))
      throw CompileError(requirement.message);
  const Loops loops(graph);
  Evaluation(graph, loops, sizes, tensors).run(0, graph.nodes.size());
  return tensors;
}

}  // namespace ferry::graph
