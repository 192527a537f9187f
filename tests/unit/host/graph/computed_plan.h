// Runs the plan of a network on simulated memory, with a kernel for each node that mixes all elements that it may read,
// and compares it with the nodes on tensors of their own.
#pragma once

#include <doctest/doctest.h>

#include "host/graph/operator_kind.h"
#include "host/graph/plan/last_reads.h"
#include "module/manifest_check.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ferry::test {

// One number for 4 bytes.
using Elements = std::vector<std::uint64_t>;

inline constexpr std::uint64_t kUnitBytes = 4;

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15 + b;
  x ^= x >> 29;
  return x * 0xbf58476d1ce4e5b9;
}

inline Elements contents_of(std::uint64_t seed, std::size_t count) {
  Elements elements(count);
  for (std::size_t i = 0; i < count; ++i) elements[i] = mixed(seed, i);
  return elements;
}

// What the kernel of a node writes.
inline Elements computed(std::size_t node, const std::vector<Elements>& inputs, std::size_t count) {
  std::uint64_t seed = node;
  for (const Elements& input : inputs)
    for (const std::uint64_t element : input) seed = mixed(seed, element);
  return contents_of(seed, count);
}

inline std::size_t value_of(const ManifestExpr& expr, const std::vector<std::int64_t>& symbols) {
  return static_cast<std::size_t>(evaluate(expr, symbols).value());
}

inline std::size_t elements_of(const graph::Graph& graph, graph::TensorId id,
                               const std::vector<std::int64_t>& symbols) {
  return value_of(bytes_of(graph, graph.tensor(id)), symbols) / kUnitBytes;
}

inline Elements initial_contents(const graph::Graph& graph, graph::TensorId id,
                                 const std::vector<std::int64_t>& symbols) {
  return contents_of(id + 1000, elements_of(graph, id, symbols));
}

// Returns the outputs as the nodes define them. Concats and slices are those of dimension 1 behind dimensions of size
// 1, or compute as kernels do.
inline std::vector<Elements> run_nodes(const graph::Graph& graph, const std::vector<std::int64_t>& symbols) {
  using namespace graph;
  std::vector<Elements> tensors(graph.tensors.size());
  for (TensorId id = 0; id < tensors.size(); ++id) tensors[id] = initial_contents(graph, id, symbols);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    Elements& result = tensors[node.outputs[0]];
    if (node.op == Operator::reshape) {
      result = tensors[node.inputs[0]];
    } else if (node.in_place && node.op == Operator::concat) {
      result.clear();
      for (const TensorId id : node.inputs) result.insert(result.end(), tensors[id].begin(), tensors[id].end());
    } else if (node.in_place) {
      const auto& slice = std::get<SliceAttributes>(node.attributes);
      const Shape& whole = graph.tensor(node.inputs[0]).shape;
      for (std::size_t i = 0; i < result.size(); ++i) {
        std::size_t left = i, at = 0, stride = 1;
        for (std::size_t d = whole.size(); d-- > 0;) {
          const std::size_t extent = value_of(to_manifest(slice.shape[d], graph.symbols), symbols);
          const std::size_t index = left % extent;
          left /= extent;
          const auto step = static_cast<std::size_t>(slice.stride[d]);
          at += (value_of(to_manifest(slice.begin[d], graph.symbols), symbols) + step * index) * stride;
          stride *= value_of(to_manifest(whole[d], graph.symbols), symbols);
        }
        result[i] = tensors[node.inputs[0]].at(at);
      }
    } else {
      std::vector<Elements> inputs;
      for (const TensorId id : node.inputs) inputs.push_back(tensors[id]);
      result = computed(n, inputs, result.size());
    }
  }
  std::vector<Elements> outputs;
  for (const TensorId id : graph.outputs) outputs.push_back(tensors[id]);
  return outputs;
}

// The network's function with one kernel for each node. The symbol of a call is the number of its node. With `updates`
// results replace inputs of their type that are read for the last time.
inline FunctionInfo composed(const graph::Graph& graph, bool updates) {
  using namespace graph;
  TensorStorages storages = assign_storages(graph);
  std::vector<Group> groups;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    if (has_kernel(graph.nodes[n])) groups.push_back({{n}});
  const std::vector<std::vector<TensorId>> last = last_reads(graph, groups, storages);
  for (std::size_t g = 0; g < groups.size() && updates; ++g) {
    const TensorId result = output_of(graph, groups[g]);
    const auto input = std::ranges::find_if(last[g], [&](TensorId id) {
      return type_of(graph.tensor(id)) == type_of(graph.tensor(result)) &&
             graph.tensor(id).channel_block == graph.tensor(result).channel_block;
    });
    if (input != last[g].end()) replace_in_memory(storages, *input, result);
  }
  const FunctionInfo described = describe_network(graph);
  Composition composition;
  composition.name = "net";
  composition.symbols = described.symbols;
  composition.parameters = described.parameters;
  composition.storages = storages.storages;
  std::vector<FunctionInfo> kernels(graph.nodes.size());
  auto copy = storages.copies.begin();
  for (std::size_t n = 0; n <= graph.nodes.size(); ++n) {
    for (; copy != storages.copies.end() && copy->node == n; ++copy) composition.steps.emplace_back(copy->copy);
    if (n == graph.nodes.size() || !has_kernel(graph.nodes[n])) continue;
    const Node& node = graph.nodes[n];
    FunctionInfo& kernel = kernels[n];
    kernel.name = "k" + std::to_string(n);
    KernelCall call{node.name, &kernel, {}, {}};
    CallStep step;
    step.symbol = std::to_string(n);
    const auto add = [&](TensorId id, Direction direction) {
      step.operands.push_back({OperandKind::argument, static_cast<std::uint32_t>(kernel.parameters.size()), kNoValue});
      ParameterInfo& parameter = kernel.parameters.emplace_back();
      parameter.name = "p" + std::to_string(kernel.parameters.size());
      parameter.direction = direction;
      call.storages.push_back(storages.of_tensor[id]);
    };
    for (const TensorId id : node.inputs) add(id, Direction::in);
    add(node.outputs[0], Direction::out);
    kernel.plan.steps = {step};
    composition.steps.emplace_back(std::move(call));
  }
  const FunctionInfo function = compose(composition);
  Manifest manifest;
  manifest.devices = {{"cpu", "x86_64", {}}};
  manifest.blobs = {{{}, 1 << 20}};
  for (const TensorId id : storages.constants)
    manifest.constants.push_back({0, 0, 0, elements_of(graph, id, {}) * kUnitBytes});
  if (manifest.constants.empty()) manifest.blobs.clear();
  manifest.functions = {function};
  const Status status = check_manifest(manifest);
  CHECK_MESSAGE(status.is_ok(), status.message());
  return function;
}

// Returns the outputs as the steps of the plan compute them.
inline std::vector<Elements> run_plan(const graph::Graph& graph, const FunctionInfo& function,
                                      const std::vector<std::int64_t>& symbols) {
  using namespace graph;
  std::vector<std::int64_t> values = symbols;
  for (const ManifestExpr& value : function.plan.values) values.push_back(evaluate(value, values).value());
  const auto value = [&](ValueIndex index) {
    return index == kNoValue ? 0 : static_cast<std::size_t>(values.at(index));
  };
  std::map<std::pair<OperandKind, std::uint32_t>, Elements> memory;
  const auto define = [&](OperandKind kind, std::size_t index, Elements contents) {
    memory[{kind, static_cast<std::uint32_t>(index)}] = std::move(contents);
  };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i)
    define(OperandKind::argument, i, initial_contents(graph, graph.inputs[i], symbols));
  for (std::size_t o = 0; o < graph.outputs.size(); ++o)
    define(OperandKind::argument, graph.inputs.size() + o, Elements(elements_of(graph, graph.outputs[o], symbols)));
  const std::vector<TensorId> constants = assign_storages(graph).constants;
  for (std::size_t c = 0; c < constants.size(); ++c)
    define(OperandKind::constant, c, initial_contents(graph, constants[c], symbols));
  for (std::size_t w = 0; w < function.plan.workspaces.size(); ++w)
    define(OperandKind::workspace, w, Elements(value(function.plan.workspaces[w].bytes) / kUnitBytes));
  // Ranges outside of the memory fail the test.
  const auto range = [&](const Operand& operand, std::size_t count) {
    Elements& all = memory.at({operand.kind, operand.index});
    REQUIRE(value(operand.offset) % 64 == 0);
    const std::size_t begin = value(operand.offset) / kUnitBytes;
    REQUIRE(begin + count <= all.size());
    return all.begin() + static_cast<std::ptrdiff_t>(begin);
  };
  for (const Step& step : function.plan.steps) {
    if (const auto* copy = std::get_if<CopyStep>(&step)) {
      const std::size_t count = value(copy->bytes) / kUnitBytes;
      const auto from = range(copy->from, count);
      const Elements moved(from, from + static_cast<std::ptrdiff_t>(count));
      std::ranges::copy(moved, range(copy->to, count));
      continue;
    }
    const auto& call = std::get<CallStep>(step);
    const std::size_t n = std::stoul(call.symbol);
    const Node& node = graph.nodes[n];
    std::vector<Elements> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::size_t count = elements_of(graph, node.inputs[i], symbols);
      const auto from = range(call.operands[i], count);
      inputs.emplace_back(from, from + static_cast<std::ptrdiff_t>(count));
    }
    const std::size_t count = elements_of(graph, node.outputs[0], symbols);
    std::ranges::copy(computed(n, inputs, count), range(call.operands.back(), count));
  }
  std::vector<Elements> outputs;
  for (std::size_t o = 0; o < graph.outputs.size(); ++o)
    outputs.push_back(memory.at({OperandKind::argument, static_cast<std::uint32_t>(graph.inputs.size() + o)}));
  return outputs;
}

}  // namespace ferry::test
