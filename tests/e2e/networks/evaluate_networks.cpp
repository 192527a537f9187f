// evaluate_networks FOLDER: imports each network FOLDER/*/net.onnx and computes it with the reference evaluator from
// in0.npy, in1.npy, ... beside it. Writes out0.npy, ... or, for a network that is not supported, refusal.txt.
//
// A network that is refused because its shapes depend on the contents of inputs is imported again with all inputs bound
// but a first one of several floats.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "ferry/error.h"
#include "host/client/npy/npy.h"
#include "host/graph/loops.h"
#include "host/graph/onnx/import.h"
#include "host/graph/reference/definition.h"
#include "tests/e2e/networks/cut_output.h"

namespace {

namespace fs = std::filesystem;
using namespace ferry;
using graph::Graph;
using graph::onnx::ImportOptions;
using graph::onnx::Model;

std::vector<npy::Array> read_inputs(const fs::path& folder) {
  std::vector<npy::Array> inputs;
  while (fs::exists(folder / ("in" + std::to_string(inputs.size()) + ".npy"))) {
    inputs.push_back(npy::read((folder / ("in" + std::to_string(inputs.size()) + ".npy")).string()));
  }
  return inputs;
}

ImportOptions with_bindings(const Model& model, const std::vector<npy::Array>& inputs) {
  ImportOptions options;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const npy::Array& input = inputs[i];
    if (i == 0 && is_float(input.dtype) && input.bytes.size() != dtype_bytes(input.dtype)) continue;
    graph::ConstantData data = {input.bytes, nullptr};
    options.bindings[model.inputs.at(i).name] = {input.dtype, input.shape,
                                                 std::make_shared<graph::ConstantData>(std::move(data))};
  }
  return options;
}

std::vector<npy::Array> outputs_of(const Graph& graph, const Model& model, const std::vector<npy::Array>& arrays) {
  validate(graph);
  graph::NetworkSizes sizes;
  std::vector<std::vector<std::byte>> inputs;
  for (const graph::TensorId id : graph.inputs) {
    const graph::Tensor& tensor = graph.tensor(id);
    const auto at = std::ranges::find(model.inputs, tensor.name, &graph::onnx::ValueInfo::name) - model.inputs.begin();
    const npy::Array& array = arrays.at(static_cast<std::size_t>(at));
    if (array.dtype != tensor.dtype || array.shape.size() != tensor.shape.size()) throw UsageError("another input");
    for (std::size_t d = 0; d < array.shape.size(); ++d) {
      for (const std::string& symbol : tensor.shape[d].symbols()) sizes[symbol] = array.shape[d];
    }
    std::vector<std::byte>& bytes = inputs.emplace_back(array.bytes.size());
    std::memcpy(bytes.data(), array.bytes.data(), bytes.size());
  }
  const std::vector<std::vector<std::byte>> tensors = graph::evaluate(graph, sizes, inputs);
  std::vector<npy::Array> outputs;
  for (const graph::TensorId id : graph.outputs) {
    const graph::Tensor& tensor = graph.tensor(id);
    npy::Array& array = outputs.emplace_back(npy::Array{tensor.dtype, {}, {}});
    for (const graph::Size& size : tensor.shape) array.shape.push_back(graph::value_of(size, sizes));
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(tensors.at(id).data());
    array.bytes.assign(bytes, bytes + tensors.at(id).size());
  }
  for (const CountedOutput& one : graph.counted) test::cut_output(outputs.at(one.output), outputs.at(one.shape));
  outputs.resize(model.outputs.size());
  return outputs;
}

// Whether loops compute the same bits as the nodes of all iterations.
bool are_loops_equal(const Model& model, graph::onnx::ImportOptions options, const std::vector<npy::Array>& inputs,
                     const std::vector<npy::Array>& expected) {
  options.most_unrolled = 0;
  const Graph graph = import_graph(model, options);
  if (graph::Loops(graph).empty()) return true;
  const std::vector<npy::Array> outputs = outputs_of(graph, model, inputs);
  return std::ranges::equal(outputs, expected, [](const npy::Array& a, const npy::Array& b) {
    return a.shape == b.shape && a.bytes == b.bytes;
  });
}

void evaluate_folder(const fs::path& folder) {
  try {
    const Model model = graph::onnx::read_model((folder / "net.onnx").string());
    const std::vector<npy::Array> inputs = read_inputs(folder);
    graph::onnx::ImportOptions options;
    graph::onnx::Imported imported = import_model(model);
    if (!imported.refusals.empty()) {
      options = with_bindings(model, inputs);
      imported.graph = import_graph(model, options);
    }
    const std::vector<npy::Array> outputs = outputs_of(imported.graph, model, inputs);
    if (!are_loops_equal(model, options, inputs, outputs)) throw UsageError("loops that compute the same, got others");
    for (std::size_t i = 0; i < outputs.size(); ++i)
      npy::write((folder / ("out" + std::to_string(i) + ".npy")).string(), outputs[i].dtype, outputs[i].shape,
                 outputs[i].bytes);
  } catch (const Error& error) {
    std::ofstream(folder / "refusal.txt") << error.what();
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: evaluate_networks FOLDER\n");
    return 2;
  }
  for (const auto& entry : fs::directory_iterator(words[1])) evaluate_folder(entry.path());
}
