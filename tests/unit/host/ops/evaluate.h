// Evaluates operators on float tensors with the reference evaluator.
#pragma once

#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "ferry/fill.h"
#include "host/lang/reference/reference.h"

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ferry::ops {

struct Image {
  std::vector<std::int64_t> shape;
  std::vector<float> values;

  std::size_t place(std::initializer_list<std::int64_t> at) const {
    std::size_t place = 0, d = 0;
    for (const std::int64_t index : at)
      place = place * static_cast<std::size_t>(shape[d++]) + static_cast<std::size_t>(index);
    return place;
  }
  double operator()(std::initializer_list<std::int64_t> at) const { return static_cast<double>(values.at(place(at))); }
};

inline Image random_image(std::vector<std::int64_t> shape, std::uint64_t seed) {
  Image image{std::move(shape), {}};
  std::size_t count = 1;
  for (const std::int64_t extent : image.shape) count *= static_cast<std::size_t>(extent);
  image.values.resize(count);
  fill(FillKind::random, seed, DType::f32, 0, count, image.values.data());
  return image;
}

// Returns the output for these inputs, which are in the order of their placeholders. `sizes` are scalar parameters.
inline Image evaluate(const lang::Tensor& output, const std::vector<lang::Tensor>& placeholders,
                      const std::vector<Image>& inputs,
                      const std::vector<std::pair<lang::Expr, std::int64_t>>& sizes = {}) {
  std::vector<lang::Parameter> parameters;
  std::vector<const void*> arguments;
  std::map<const ir::ExprNode*, std::int64_t> known;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    parameters.push_back(lang::in(placeholders[i]));
    arguments.push_back(inputs[i].values.data());
    for (std::size_t d = 0; d < inputs[i].shape.size(); ++d)
      known[placeholders[i].shape()[d].get()] = inputs[i].shape[d];
  }
  for (const auto& [variable, value] : sizes) {
    parameters.push_back(lang::scalar(variable));
    arguments.push_back(&value);
    known[variable.get()] = value;
  }
  parameters.push_back(lang::out(output));
  arguments.push_back(nullptr);
  const lang::Program program = lang::make_program("f", parameters);
  std::vector<std::int64_t> symbols;
  for (const lang::Expr& symbol : lang::symbols_of(program)) symbols.push_back(known.at(symbol.get()));
  const lang::Reference reference(program, symbols, arguments);
  Image result{reference.shape(parameters.size() - 1), {}};
  const std::vector<std::byte> bytes = reference.evaluate_all(parameters.size() - 1);
  result.values.resize(bytes.size() / sizeof(float));
  std::memcpy(result.values.data(), bytes.data(), bytes.size());
  return result;
}

// Checks each element against an independent computation in double, which receives the element's index.
using Expected = std::function<double(const std::vector<std::int64_t>& at)>;
inline void check_elements(const Image& got, const std::vector<std::int64_t>& shape, const Expected& expected,
                           double tolerance = 1e-5) {
  REQUIRE(got.shape == shape);
  for (std::size_t place = 0; place < got.values.size(); ++place) {
    std::vector<std::int64_t> at(shape.size());
    std::size_t rest = place;
    for (std::size_t d = shape.size(); d-- > 0;) {
      at[d] = static_cast<std::int64_t>(rest % static_cast<std::size_t>(shape[d]));
      rest /= static_cast<std::size_t>(shape[d]);
    }
    CAPTURE(at);
    CHECK(static_cast<double>(got.values[place]) == doctest::Approx(expected(at)).epsilon(tolerance));
  }
}

inline std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const CompileError& error) {
    return error.what();
  }
  return "nothing was refused";
}

inline lang::Tensor input(std::vector<lang::Expr> shape, std::string name) {
  return lang::placeholder(std::move(shape), DType::f32, std::move(name));
}

}  // namespace ferry::ops
