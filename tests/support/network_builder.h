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
    return graph::add_input(graph, name, {dtype, std::move(shape)});
  }

  // A constant with these elements.
  template <class T>
  graph::TensorId constant(const std::string& name, graph::Shape shape, const std::vector<T>& elements, DType dtype) {
    auto bytes = std::make_shared<std::vector<std::uint8_t>>(elements.size() * sizeof(T));
    std::memcpy(bytes->data(), elements.data(), bytes->size());
    auto data = std::make_shared<const graph::ConstantData>(graph::ConstantData{*bytes, bytes});
    return graph::add_constant(graph, name, {dtype, std::move(shape)}, std::move(data));
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
    return graph::add_node(graph, {op, name, std::move(inputs), {}, std::move(attributes)});
  }

  void output(graph::TensorId id, const std::string& name) {
    graph.outputs.push_back(id);
    graph.output_names.push_back(name);
  }

 private:
  std::uint64_t seed_ = 0;
};

}  // namespace ferry::test
