#include "host/graph/passes/quantize_products.h"

#include "host/graph/passes/dequantized.h"
#include "host/graph/passes/integer_weights.h"
#include "host/graph/prune.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ferry::graph {
namespace {

// Returns the value that all elements have.
template <class T>
std::optional<T> only_value(const std::vector<T>& elements) {
  if (elements.empty() || std::ranges::count(elements, elements[0]) != std::ssize(elements)) return std::nullopt;
  return elements[0];
}

class Quantizer {
 public:
  explicit Quantizer(Graph graph) : from_(std::move(graph)), dequantized_(from_), result_(from_) {
    result_.nodes.clear();
  }

  Graph run() {
    for (const Node& node : from_.nodes)
      if (!add_quantized(node)) result_.nodes.push_back(node);
    return prune(result_);
  }

 private:
  // A factor of a product: integers minus their zero points, perhaps scaled.
  struct Factor {
    TensorId integers = kNoTensor, zero = kNoTensor, scale = kNoTensor;
  };

  const Tensor& tensor(TensorId id) const { return from_.tensor(id); }

  std::optional<Factor> factor(TensorId id) const {
    if (const auto found = dequantized_.find(id)) return Factor{found->integers, found->zero, found->scale};
    if (const auto found = dequantized_.find_centered(id)) return Factor{found->integers, found->zero};
    return std::nullopt;
  }

  // Returns a scale for each filter of the weights, which are along dimension `d`.
  std::optional<std::vector<float>> filter_scales(const Factor& weights, std::size_t d) const {
    const Shape& shape = tensor(weights.integers).shape;
    std::vector<float> scales = floats_of(tensor(weights.scale));
    const auto filters = static_cast<std::size_t>(*shape[d].constant());
    if (const auto one = only_value(scales)) return std::vector<float>(filters, *one);
    if (size_at(tensor(weights.scale).shape, d, shape.size()) != shape[d] || scales.size() != filters)
      return std::nullopt;
    return scales;
  }

  // Whether no sum of so many products of a byte minus its zero point and a weight overflows int32.
  static bool fits(std::int64_t depth, DType weights) {
    return depth * (255 * (weights == DType::i8 ? 128 : 255)) <= INT32_MAX;
  }

  // Returns the zero point of X as an int16, a constant or the result of new nodes; kNoTensor: 0. Nothing unless there
  // is one, and it is such an integer that differences are at most 255.
  std::optional<TensorId> zero_point(const Factor& x, const std::string& name) {
    if (x.zero == kNoTensor) return kNoTensor;
    const Tensor& zero = tensor(x.zero);
    const DType type = tensor(x.integers).dtype;
    if (zero.constant == nullptr) {
      if (zero.dtype != type || element_count(zero.shape).constant() != 1) return std::nullopt;
      const TensorId one = append({name, type, {}}), wide = append({name, DType::i16, {}});
      result_.nodes.push_back({Operator::reshape, name, {x.zero}, {one}, ReshapeAttributes{{}}});
      result_.nodes.push_back({Operator::cast, name, {one}, {wide}, CastAttributes{DType::i16}});
      return wide;
    }
    const auto integers = integers_of(zero);
    const auto one = integers ? only_value(*integers) : std::nullopt;
    if (!one || *one < (type == DType::i8 ? INT8_MIN : 0) || *one > (type == DType::i8 ? INT8_MAX : UINT8_MAX))
      return std::nullopt;
    if (*one == 0) return kNoTensor;
    return add_constant(result_, name, {DType::i16, {}}, constant_data(std::vector{static_cast<std::int16_t>(*one)}));
  }

  bool add_quantized(const Node& node) {
    const auto* conv = std::get_if<ConvAttributes>(&node.attributes);
    const auto* matmul = std::get_if<MatmulAttributes>(&node.attributes);
    if (conv == nullptr && matmul == nullptr) return false;
    const Shape &a = tensor(node.inputs[0]).shape, &b = tensor(node.inputs[1]).shape;
    if (matmul != nullptr && (a.size() < 2 || b.size() != 2)) return false;
    const std::size_t filters = matmul != nullptr && !matmul->transposed_b ? 1 : 0;
    const auto x = factor(node.inputs[0]), w = factor(node.inputs[1]);
    if (!x || !w || tensor(x->integers).constant != nullptr) return false;
    const auto weights = without_zero_points(from_, w->integers, w->zero, filters);
    if (!weights) return false;
    const std::int64_t elements = *element_count(b).constant(), each = *b[filters].constant();
    if (each == 0 || !fits(elements / each, weights->dtype)) return false;
    const bool is_scaled = x->scale != kNoTensor;
    std::vector<std::pair<Shape, std::vector<float>>> scales;
    if (is_scaled) {
      const auto one = only_value(floats_of(tensor(x->scale)));
      const auto for_filters = filter_scales(*w, filters);
      if (!one || !for_filters) return false;
      scales = {{{}, {*one}}, {{b[filters]}, *for_filters}};
    }
    const auto zero = zero_point(*x, node.name);
    if (!zero) return false;

    Node quantized = {Operator::quantized_conv, node.name, {x->integers}, node.outputs};
    if (conv != nullptr) quantized.attributes = QuantizedConvAttributes{*conv, is_scaled};
    if (matmul != nullptr) {
      quantized.op = Operator::quantized_matmul;
      quantized.attributes = QuantizedMatmulAttributes{*matmul, is_scaled};
    }
    const Tensor& integers = tensor(w->integers);
    quantized.inputs.push_back(integers.constant == weights->data
                                   ? w->integers
                                   : add_constant(result_, integers.name, {weights->dtype, b}, weights->data));
    for (const auto& [shape, values] : scales)
      quantized.inputs.push_back(add_constant(result_, node.name, {DType::f32, shape}, constant_data(values)));
    if (*zero != kNoTensor) quantized.inputs.push_back(*zero);
    add_with_bias(std::move(quantized), node.inputs.size() > 2 ? node.inputs[2] : kNoTensor);
    return true;
  }

  void add_with_bias(Node node, TensorId bias) {
    if (bias == kNoTensor) return result_.nodes.push_back(std::move(node));
    const Tensor result = tensor(node.outputs[0]);
    Shape shape(result.shape.size() - 1, 1);
    shape[0] = result.shape[1];
    const TensorId sum = append({node.name, result.dtype, result.shape});
    TensorId channels;
    if (const auto& data = tensor(bias).constant; data != nullptr) {
      channels = add_constant(result_, tensor(bias).name, {result.dtype, shape}, data);
    } else {
      channels = append({tensor(bias).name, result.dtype, shape});
      result_.nodes.push_back({Operator::reshape, node.name, {bias}, {channels}, ReshapeAttributes{shape}});
    }
    Node added = {Operator::add, node.name, {sum, channels}, node.outputs};
    node.outputs = {sum};
    result_.nodes.push_back(std::move(node));
    result_.nodes.push_back(std::move(added));
  }

  TensorId append(Tensor tensor) {
    result_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(result_.tensors.size() - 1);
  }

  const Graph from_;
  const DequantizedTensors dequantized_;
  Graph result_;
};

}  // namespace

Graph quantize_products(Graph graph) { return Quantizer(std::move(graph)).run(); }

}  // namespace ferry::graph
