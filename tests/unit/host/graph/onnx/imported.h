// Imports models and shows what became of them.
#pragma once

#include <span>
#include <string>

#include "base/quantity_text.h"
#include "ferry/error.h"
#include "host/graph/onnx/import.h"
#include "tests/support/model_bytes.h"

namespace ferry::test {

inline graph::onnx::Model parsed(const std::string& bytes) {
  return graph::onnx::parse_model({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "net.onnx");
}

inline graph::Graph imported(const ModelBytes& model, const graph::onnx::ImportOptions& options = {}) {
  graph::Graph graph = graph::onnx::import_graph(parsed(model.text()), options);
  validate(graph);
  return graph;
}

// Returns a line for each node, such as "conv(x,w) f32[N,8]"; a constant of one element is its name in brackets.
inline std::string text_of(const graph::Graph& graph) {
  std::string text;
  for (const graph::Node& node : graph.nodes) {
    std::string inputs;
    for (const graph::TensorId id : node.inputs) inputs += (inputs.empty() ? "" : ",") + graph.tensor(id).name;
    text += (text.empty() ? "" : "\n") + std::string(operator_name(node.op)) + "(" + inputs + ") " +
            to_text(type_of(graph.tensor(node.outputs[0])));
  }
  return text;
}

// Returns the types of the outputs.
inline std::string outputs_of(const graph::Graph& graph) {
  std::string text;
  for (const graph::TensorId id : graph.outputs) text += (text.empty() ? "" : " ") + to_text(type_of(graph.tensor(id)));
  return text;
}

// Returns the message of the refusal.
inline std::string refusal_of(const std::string& bytes, const graph::onnx::ImportOptions& options = {}) {
  try {
    return "imported " + text_of(graph::onnx::import_graph(parsed(bytes), options));
  } catch (const Error& error) {
    return error.what();
  }
}
inline std::string refusal_of(const ModelBytes& model, const graph::onnx::ImportOptions& options = {}) {
  return refusal_of(model.text(), options);
}

}  // namespace ferry::test
