#include "host/graph/passes/fold_batch_norms.h"

#include "host/graph/group.h"
#include "host/graph/prune.h"
#include "module/float_element.h"

#include <algorithm>
#include <cmath>

namespace ferry::graph {
namespace {

std::vector<double> elements_of(const Tensor& tensor) {
  const std::size_t bytes = dtype_bytes(tensor.dtype);
  std::vector<double> elements(tensor.constant->bytes.size() / bytes);
  for (std::size_t i = 0; i < elements.size(); ++i)
    elements[i] = load_float(tensor.dtype, tensor.constant->bytes.data() + i * bytes);
  return elements;
}

TensorId add_elements(Graph& graph, const std::string& name, TensorType type, const std::vector<double>& elements) {
  const std::size_t bytes = dtype_bytes(type.dtype);
  const auto data = std::make_shared<std::vector<std::uint8_t>>(elements.size() * bytes);
  for (std::size_t i = 0; i < elements.size(); ++i) store_float(type.dtype, elements[i], data->data() + i * bytes);
  return add_constant(graph, name, std::move(type), std::make_shared<const ConstantData>(ConstantData{*data, data}));
}

class BatchNormFolder {
 public:
  explicit BatchNormFolder(Graph graph)
      : graph_(std::move(graph)), uses_(graph_.tensors.size()), writer_(graph_.tensors.size()) {
    for (Node& node : graph_.nodes) {
      for (const TensorId id : node.inputs)
        if (id != kNoTensor) ++uses_[id];
      for (const TensorId id : node.outputs) writer_[id] = &node;
    }
    for (const TensorId id : graph_.outputs) ++uses_[id];
  }

  Graph run() {
    for (Node& node : graph_.nodes) {
      if (node.op != Operator::batch_norm) continue;
      Node* const before = writer_[node.inputs[0]];
      if (before != nullptr && can_fold(*before, node)) fold(*before, node);
    }
    return prune(graph_);
  }

 private:
  bool is_constant(TensorId id) const { return id != kNoTensor && graph_.tensor(id).constant != nullptr; }

  bool can_fold(const Node& before, const Node& norm) const {
    const bool has_channels = before.op == Operator::conv ||
                              (before.op == Operator::matmul && graph_.tensor(norm.inputs[0]).shape.size() == 2 &&
                               graph_.tensor(before.inputs[1]).shape.size() == 2);
    const auto constant = [&](TensorId id) { return is_constant(id); };
    return has_channels && graph_.tensor(norm.inputs[1]).shape[0].constant() != 0 && uses_[norm.inputs[0]] == 1 &&
           is_float(graph_.tensor(norm.inputs[0]).dtype) &&
           std::all_of(before.inputs.begin() + 1, before.inputs.end(), constant) &&
           std::all_of(norm.inputs.begin() + 1, norm.inputs.end(), constant);
  }

  void fold(Node& before, Node& norm) {
    std::vector<double> factors = elements_of(graph_.tensor(norm.inputs[1])),
                        offsets = elements_of(graph_.tensor(norm.inputs[2]));
    const std::vector<double> means = elements_of(graph_.tensor(norm.inputs[3])),
                              variances = elements_of(graph_.tensor(norm.inputs[4]));
    std::vector<double> biases(factors.size());
    if (before.inputs.size() > 2) biases = elements_of(graph_.tensor(before.inputs[2]));
    const double epsilon = std::get<BatchNormAttributes>(norm.attributes).epsilon;
    for (std::size_t c = 0; c < factors.size(); ++c) {
      factors[c] /= std::sqrt(variances[c] + epsilon);
      offsets[c] += (biases[c] - means[c]) * factors[c];
    }
    scale_weights(before, factors);
    const Tensor result = graph_.tensor(norm.outputs[0]);
    const TensorId bias = add_elements(graph_, result.name, {result.dtype, {result.shape[1]}}, offsets);
    if (before.op == Operator::conv) {
      before.inputs.resize(2);
      before.inputs.push_back(bias);
      // The convolution computes what the normalisation did.
      before.name = joined_names(before.name, norm.name);
      std::swap(before.outputs, norm.outputs);
      writer_[before.outputs[0]] = &before;
      writer_[norm.outputs[0]] = &norm;
      norm.inputs[0] = before.outputs[0];
      return;
    }
    norm = {Operator::add, norm.name, {norm.inputs[0], bias}, norm.outputs, NoAttributes{}};
  }

  // The channels are the first dimension of a convolution's weights, and the columns of a product's.
  void scale_weights(Node& node, const std::vector<double>& factors) {
    const Tensor old = graph_.tensor(node.inputs[1]);
    std::vector<double> weights = elements_of(old);
    const auto* matmul = std::get_if<MatmulAttributes>(&node.attributes);
    const bool is_first = matmul == nullptr || matmul->transposed_b;
    const std::size_t each = weights.size() / factors.size();
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= factors[is_first ? i / each : i % factors.size()];
    node.inputs[1] = add_elements(graph_, old.name, type_of(old), weights);
  }

  Graph graph_;
  // Uses and writers of the tensors that the graph had before.
  std::vector<std::size_t> uses_;
  std::vector<Node*> writer_;  // null: inputs and constants
};

}  // namespace

Graph fold_batch_norms(Graph graph) { return BatchNormFolder(std::move(graph)).run(); }

}  // namespace ferry::graph
