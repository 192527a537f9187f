// Imports single nodes, with an input of a given shape and the others as initializers.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/host/graph/onnx/imported.h"

namespace ferry::test {

struct Case {
  std::string op;
  std::vector<Dim> x;
  std::vector<Proto> initializers = {};
  std::vector<Proto> attributes = {};
  std::int64_t opset = 17;
  std::size_t outputs = 1;
};

inline std::string import_case(const Case& one) {
  ModelBytes model;
  model.opset = one.opset;
  model.input("x", one.x);
  std::vector<std::string> inputs = {"x"}, outputs;
  for (std::size_t i = 0; i < one.initializers.size(); ++i) {
    if (one.initializers[i].text().empty()) {
      inputs.emplace_back();
      continue;
    }
    model.initializer(one.initializers[i]);
    inputs.push_back(std::string(1, static_cast<char>('a' + i)));
  }
  for (std::size_t i = 0; i < one.outputs; ++i) outputs.push_back("y" + std::to_string(i));
  model.node(one.op, inputs, outputs, one.attributes, "n");
  for (const std::string& output : outputs) model.output(output);
  try {
    return text_of(imported(model));
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace ferry::test
