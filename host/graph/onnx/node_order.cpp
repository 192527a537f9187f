#include "host/graph/onnx/node_order.h"

#include <map>
#include <queue>
#include <set>

#include "base/printable.h"
#include "ferry/error.h"

namespace ferry::graph::onnx {
namespace {

std::string node_called(const ModelNode& node) {
  return "node '" + printable(node.name) + "' (" + printable(node.op) + ")";
}

// Returns the number of the node that computes each tensor.
std::map<std::string, std::size_t> producers_of(const std::vector<ModelNode>& nodes,
                                                const std::set<std::string>& given) {
  std::map<std::string, std::size_t> producers;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& output : nodes[i].outputs) {
      if (output.empty()) continue;
      if (given.contains(output) || !producers.emplace(output, i).second) {
        throw UsageError(node_called(nodes[i]) + ": expected outputs that nothing else provides, got '" +
                         printable(output) + "'");
      }
    }
  }
  return producers;
}

}  // namespace

std::vector<const ModelNode*> nodes_in_order(const ModelGraph& graph) {
  std::set<std::string> given(graph.captured.begin(), graph.captured.end());
  for (const ValueInfo& input : graph.inputs) given.insert(input.name);
  for (const auto& [name, constant] : graph.initializers) given.insert(name);
  return nodes_in_order(graph.nodes, given);
}

std::vector<const ModelNode*> nodes_in_order(const std::vector<ModelNode>& nodes, const std::set<std::string>& given) {
  const std::map<std::string, std::size_t> producers = producers_of(nodes, given);
  const std::size_t count = nodes.size();
  std::vector<std::size_t> missing(count);               // number of inputs that are not computed yet
  std::vector<std::vector<std::size_t>> readers(count);  // who reads each node's outputs
  for (std::size_t i = 0; i < count; ++i) {
    const auto read = [&](const std::string& input) {
      if (input.empty() || given.contains(input)) return;
      const auto producer = producers.find(input);
      if (producer == producers.end()) {
        throw UsageError(node_called(nodes[i]) + ": expected '" + printable(input) +
                         "' to be an input, an initializer or computed by a node, got none of that name");
      }
      ++missing[i];
      readers[producer->second].push_back(i);
    };
    for (const std::string& input : nodes[i].inputs) read(input);
    for (const std::string& input : nodes[i].captured) read(input);
  }
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<const ModelNode*> order;
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.push_back(&nodes[i]);
    for (const std::size_t reader : readers[i]) {
      if (--missing[reader] == 0) ready.push(reader);
    }
  }
  for (std::size_t i = 0; i < count && order.size() < count; ++i) {
    if (missing[i] != 0)
      throw UsageError(node_called(nodes[i]) + ": expected no cycle, got an input that depends on it");
  }
  return order;
}

}  // namespace ferry::graph::onnx
