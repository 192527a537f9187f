// Models with a Loop.
#pragma once

#include <algorithm>

#include "tests/unit/host/graph/onnx/imported.h"

namespace ferry::test {

inline Proto body(const std::string& name, const ModelBytes& graph) {
  return Proto().bytes(1, name).message(6, graph.graph()).number(20, 5);
}

inline Proto truth(const std::string& name, bool value) {
  return tensor(name, kBool, {}, value ? std::string(1, '\1') : std::string(1, '\0'));
}

// The loop runs as often as the first dimension of a tensor says.
inline ModelBytes loop_over_size(const ModelBytes& loop_body, const std::vector<std::string>& outputs) {
  ModelBytes model;
  model.input("x", {2}).input("length", {"N", 3}).initializer(truth("go0", true));
  model.initializer(tensor("zero", kInt64, {}, raw<std::int64_t>({0})));
  model.node("Shape", {"length"}, {"shape"}).node("Gather", {"shape", "zero"}, {"count"});
  model.node("Loop", {"count", "go0", "x"}, outputs, {body("body", loop_body)}, "loop");
  for (const std::string& output : outputs) model.output(output);
  return model;
}

// Whether the network has one loop, which a condition ends.
inline bool has_conditional_loop(const graph::Graph& network) {
  return std::ranges::count_if(network.nodes, [](const graph::Node& node) {
           const auto* loop = std::get_if<graph::LoopAttributes>(&node.attributes);
           return loop != nullptr && loop->has_condition;
         }) == 2;
}

}  // namespace ferry::test
