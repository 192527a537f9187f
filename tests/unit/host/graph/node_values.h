// Computes single nodes of networks with the reference evaluator, on few elements as doubles.
#pragma once

#include <doctest/doctest.h>

#include "ferry/fill.h"
#include "host/graph/kernels/group_program.h"
#include "host/lang/reference/reference.h"
#include "tests/support/network_builder.h"

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ferry::test {

using namespace ferry::graph;

using Index = std::vector<std::int64_t>;

struct Values {
  Index shape;
  DType dtype = DType::f32;
  std::vector<double> elements;

  double operator()(const Index& at) const {
    std::size_t place = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (at[d] < 0 || at[d] >= shape[d]) return 0;
      place = place * static_cast<std::size_t>(shape[d]) + static_cast<std::size_t>(at[d]);
    }
    return elements.at(place);
  }
};

inline std::size_t count_of(const Index& shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  return count;
}

inline Values random_values(Index shape, std::uint64_t seed, double scale = 1, double shift = 0) {
  Values values{std::move(shape), DType::f32, {}};
  std::vector<float> drawn(count_of(values.shape));
  fill(FillKind::random, seed, DType::f32, 0, drawn.size(), drawn.data());
  for (const float each : drawn) values.elements.push_back(static_cast<float>(each * scale + shift));
  return values;
}

inline Values integers(Index shape, std::vector<double> elements, DType dtype = DType::i64) {
  return {std::move(shape), dtype, std::move(elements)};
}

inline std::vector<std::byte> bytes_of(const Values& values) {
  std::vector<std::byte> bytes(values.elements.size() * dtype_bytes(values.dtype));
  for (std::size_t i = 0; i < values.elements.size(); ++i) {
    lang::Element element;
    element.real = values.elements[i];
    element.integer = static_cast<std::int64_t>(values.elements[i]);
    lang::store_element(values.dtype, element, bytes.data() + i * dtype_bytes(values.dtype));
  }
  return bytes;
}

inline std::int64_t evaluated(const Size& size, const std::map<std::string, std::int64_t>& sizes) {
  std::vector<std::string> names;
  std::vector<std::int64_t> values;
  for (const auto& [name, value] : sizes) {
    names.push_back(name);
    values.push_back(value);
  }
  return evaluate(to_manifest(size, names), values).value();
}

// Evaluates the program of a node whose inputs have these shapes, in which sizes may be symbols.
inline Values run(Operator op, const Attributes& attributes, const std::vector<Shape>& shapes,
                  const std::vector<Values>& inputs, const std::map<std::string, std::int64_t>& sizes = {}) {
  NetworkBuilder network;
  std::vector<TensorId> ids;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    ids.push_back(network.input("in" + std::to_string(i), shapes[i], inputs[i].dtype));
  const Tensor& output = network.graph.tensor(network.node(op, ids, attributes));
  const GroupKernel kernel = kernel_of(network.graph, {{0}});
  const lang::Program program = group_program(kernel.key, "kernel");
  std::vector<std::vector<std::byte>> bytes;
  std::vector<const void*> arguments;
  std::map<std::string, std::int64_t> canonical;
  for (std::size_t s = 0; s < kernel.sizes.size(); ++s) canonical[symbol_name(s)] = evaluated(kernel.sizes[s], sizes);
  std::size_t result = 0;
  for (std::size_t p = 0; p < program.parameters.size(); ++p) {
    const lang::Parameter& parameter = program.parameters[p];
    if (parameter.kind == ParameterKind::scalar) {
      arguments.push_back(&canonical.at(parameter.name));
    } else if (parameter.direction == Direction::in) {
      bytes.push_back(bytes_of(inputs.at(p)));
      arguments.push_back(bytes.back().data());
    } else {
      result = p;
      arguments.push_back(nullptr);
    }
  }
  std::vector<std::int64_t> symbols;
  for (const lang::Expr& symbol : lang::symbols_of(program)) symbols.push_back(canonical.at(ir::to_text(symbol)));
  const lang::Reference reference(program, symbols, arguments);
  Values values;
  values.dtype = program.parameters[result].tensor.dtype();
  CHECK(values.dtype == output.dtype);
  for (const Size& size : output.shape) values.shape.push_back(evaluated(size, sizes));
  REQUIRE(reference.elements(result) == count_of(values.shape));
  const std::vector<std::byte> raw = reference.evaluate_all(result);
  for (std::size_t i = 0; i < count_of(values.shape); ++i) {
    const lang::Element element = lang::load_element(values.dtype, raw.data() + i * dtype_bytes(values.dtype));
    values.elements.push_back(is_float(values.dtype) ? element.real : static_cast<double>(element.integer));
  }
  return values;
}

inline Values run(Operator op, const Attributes& attributes, const std::vector<Values>& inputs) {
  std::vector<Shape> shapes;
  for (const Values& input : inputs) shapes.emplace_back(input.shape.begin(), input.shape.end());
  return run(op, attributes, shapes, inputs);
}

inline void check(const Values& got, const Index& shape, const std::function<double(const Index&)>& expected) {
  REQUIRE(got.shape == shape);
  Index at(shape.size());
  for (const double value : got.elements) {
    CHECK(value == doctest::Approx(expected(at)).epsilon(1e-5));
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < shape[d]) break;
      at[d] = 0;
    }
  }
}

}  // namespace ferry::test
