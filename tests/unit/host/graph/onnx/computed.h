// Computes models with the reference evaluator.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

#include "host/graph/reference/definition.h"
#include "tests/unit/host/graph/onnx/imported.h"

namespace ferry::test {

// Returns the elements of the only output; the only input has these elements.
template <class Output, class Input>
std::vector<Output> computed(const ModelBytes& model, const std::vector<Input>& input,
                             const graph::NetworkSizes& sizes = {}) {
  const graph::Graph network = imported(model);
  std::vector<std::byte> bytes(input.size() * sizeof(Input));
  std::memcpy(bytes.data(), input.data(), bytes.size());
  const auto tensors = graph::evaluate(network, sizes, {bytes});
  const std::vector<std::byte>& result = tensors.at(network.outputs.at(0));
  std::vector<Output> output(result.size() / sizeof(Output));
  std::memcpy(output.data(), result.data(), output.size() * sizeof(Output));
  return output;
}

}  // namespace ferry::test
