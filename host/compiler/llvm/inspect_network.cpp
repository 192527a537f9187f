#include "host/compiler/llvm/inspect_network.h"

#include <memory>

#include "crosscompile/ir/error.h"
#include "host/graph/loops.h"

namespace ferry {

namespace {

NetworkTensor describe_tensor(const std::string& name, const graph::Tensor& tensor) {
  NetworkTensor described = {name, tensor.dtype, {}};
  for (const graph::Size& size : tensor.shape) described.shape.push_back(to_text(size));
  return described;
}

}  // namespace

graph::onnx::ImportOptions import_options(const NetworkSource& source) {
  graph::onnx::ImportOptions options = {source.sizes, {}};
  options.outputs = source.outputs;
  for (const auto& [name, tensor] : source.bindings) {
    const auto bytes = std::make_shared<std::vector<std::uint8_t>>(tensor.bytes);
    options.bindings[name] = {tensor.dtype, tensor.shape,
                              std::make_shared<graph::ConstantData>(graph::ConstantData{*bytes, bytes})};
  }
  return options;
}

NetworkSummary inspect_network(const NetworkSource& source) {
  const graph::onnx::Model model = graph::onnx::read_model(source.file);
  const graph::onnx::Imported imported = import_model(model, import_options(source));
  const graph::Graph& network = imported.graph;
  NetworkSummary summary;
  summary.name = model.name;
  summary.ir_version = model.ir_version;
  if (model.opsets.contains("")) summary.opset = model.opsets.at("");
  summary.symbols = network.symbols;
  for (const graph::TensorId id : network.inputs) {
    summary.inputs.push_back(describe_tensor(network.tensor(id).name, network.tensor(id)));
  }
  for (const graph::onnx::OperatorCount& count : imported.operators) {
    summary.operators.push_back({count.op, count.nodes, count.is_imported});
  }
  summary.parameters = imported.parameters;
  summary.unsupported = imported.refusals;
  if (!summary.unsupported.empty()) {
    const std::string advice = advice_on_refusals(model, import_options(source), imported);
    if (!advice.empty()) summary.unsupported.push_back(advice);
    return summary;
  }
  for (std::size_t i = 0; i < network.outputs.size(); ++i) {
    summary.outputs.push_back(describe_tensor(network.output_names[i], network.tensor(network.outputs[i])));
  }
  for (const CountedOutput& counted : network.counted)
    summary.outputs[counted.output].counted_by = network.output_names[counted.shape];
  try {
    summary.multiply_adds = to_text(multiply_adds(network));
  } catch (const CompileError&) {
    summary.multiply_adds = "a sum of too many terms, as sizes are open";
  }
  return summary;
}

}  // namespace ferry
