// Builds graphs of networks by hand, with types inferred and seeded weights.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ferry/fill.h"
#include "host/graph/graph.h"

namespace ferry::test {

class NetworkBuilder {
 public:
  graph::Graph graph;

  explicit NetworkBuilder(std::string name = "net") { graph.name = std::move(name); }

  graph::TensorId input(const std::string& name, graph::Shape shape, DType dtype = DType::f32) {
    for (const graph::Size& size : shape)
      for (const std::string& symbol : size.symbols())
        if (std::ranges::find(graph.symbols, symbol) == graph.symbols.end()) graph.symbols.push_back(symbol);
    graph.inputs.push_back(tensor({name, dtype, std::move(shape)}));
    return graph.inputs.back();
  }

  // A constant with these elements.
  template <class T>
  graph::TensorId constant(const std::string& name, graph::Shape shape, const std::vector<T>& elements, DType dtype) {
    auto bytes = std::make_shared<std::vector<std::uint8_t>>(elements.size() * sizeof(T));
    std::memcpy(bytes->data(), elements.data(), bytes->size());
    auto data = std::make_shared<const graph::ConstantData>(graph::ConstantData{*bytes, bytes});
    return tensor({name, dtype, std::move(shape), std::move(data)});
  }

  // A constant of random floats in [-scale + shift, scale + shift).
  graph::TensorId weights(const std::string& name, const std::vector<std::int64_t>& shape, float scale = 1,
                          float shift = 0) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<float> values(count);
    fill(FillKind::random, ++seed_, DType::f32, 0, count, values.data());
    for (float& value : values) value = value * scale + shift;
    return constant(name, {shape.begin(), shape.end()}, values, DType::f32);
  }

  graph::TensorId node(graph::Operator op, std::vector<graph::TensorId> inputs, graph::Attributes attributes = {},
                       std::string name = {}) {
    if (name.empty()) name = std::string(graph::operator_name(op)) + std::to_string(graph.nodes.size());
    graph::Node node{op, name, std::move(inputs), {}, std::move(attributes)};
    std::vector<graph::TensorType> types;
    for (const graph::TensorId id : node.inputs) types.push_back({graph.tensor(id).dtype, graph.tensor(id).shape});
    const graph::TensorType type = graph::infer_types(node, types).at(0);
    node.outputs = {tensor({node.name + ".out", type.dtype, type.shape})};
    graph.nodes.push_back(std::move(node));
    return graph.nodes.back().outputs[0];
  }

  void output(graph::TensorId id, const std::string& name) {
    graph.tensors[id].name = name;
    graph.outputs.push_back(id);
  }

 private:
  graph::TensorId tensor(graph::Tensor tensor) {
    graph.tensors.push_back(std::move(tensor));
    return static_cast<graph::TensorId>(graph.tensors.size() - 1);
  }

  std::uint64_t seed_ = 0;
};

}  // namespace ferry::test
