#include "host/graph/passes/quantize_products.h"

#include "host/graph/passes/dequantized.h"
#include "host/graph/prune.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ferry::graph {
namespace {

template <class T>
TensorId add_elements(Graph& graph, const std::string& name, DType dtype, Shape shape, const std::vector<T>& elements) {
  const auto data = std::make_shared<std::vector<std::uint8_t>>(elements.size() * sizeof(T));
  if (!elements.empty()) std::memcpy(data->data(), elements.data(), data->size());
  return add_constant(graph, name, {dtype, std::move(shape)},
                      std::make_shared<const ConstantData>(ConstantData{*data, data}));
}

// Returns the value that all elements have.
std::optional<float> only_value(const std::vector<float>& elements) {
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
  // Weights that a product may have.
  struct Weights {
    TensorId integers = kNoTensor;
    std::vector<float> scales;  // one for each filter
  };

  const Tensor& tensor(TensorId id) const { return from_.tensor(id); }

  // The filters are along dimension `d`.
  std::optional<Weights> weights_of(TensorId id, std::size_t d) const {
    const auto found = dequantized_.find(id);
    if (!found) return std::nullopt;
    const Tensor& integers = tensor(found->integers);
    if (integers.constant == nullptr || integers.dtype != DType::i8) return std::nullopt;
    if (found->zero != kNoTensor && only_value(floats_of(tensor(found->zero))) != 0) return std::nullopt;
    Weights weights{found->integers, floats_of(tensor(found->scale))};
    const auto filters = static_cast<std::size_t>(*integers.shape[d].constant());
    const std::size_t rank = integers.shape.size();
    if (const auto one = only_value(weights.scales)) {
      weights.scales.assign(filters, *one);
      return weights;
    }
    if (size_at(tensor(found->scale).shape, d, rank) != integers.shape[d] || weights.scales.size() != filters)
      return std::nullopt;
    return weights;
  }

  // Whether no sum of so many products of a byte minus its zero point and an int8 overflows int32.
  bool fits(std::int64_t depth) const { return depth * (255 * 128) <= INT32_MAX; }

  // Whether a zero point is one of the integers from which it is subtracted, so that their differences are at most 255.
  bool is_zero_point(float zero, TensorId integers) const {
    const bool is_signed = tensor(integers).dtype == DType::i8;
    return zero == std::trunc(zero) && zero >= (is_signed ? -128 : 0) && zero <= (is_signed ? 127 : 255);
  }

  bool add_quantized(const Node& node) {
    const auto* conv = std::get_if<ConvAttributes>(&node.attributes);
    const auto* matmul = std::get_if<MatmulAttributes>(&node.attributes);
    if (conv == nullptr && matmul == nullptr) return false;
    const Shape &a = tensor(node.inputs[0]).shape, &b = tensor(node.inputs[1]).shape;
    if (matmul != nullptr && (a.size() < 2 || b.size() != 2)) return false;
    const std::size_t filters = matmul != nullptr && !matmul->transposed_b ? 1 : 0;
    const auto weights = weights_of(node.inputs[1], filters);
    const auto x = dequantized_.find(node.inputs[0]);
    if (!weights || !x || tensor(x->integers).constant != nullptr) return false;
    const auto scale = only_value(floats_of(tensor(x->scale)));
    const auto zero = x->zero == kNoTensor ? 0.0F : only_value(floats_of(tensor(x->zero)));
    if (!scale || !zero || !is_zero_point(*zero, x->integers)) return false;
    const std::int64_t elements = *element_count(b).constant(), each = *b[filters].constant();
    if (each == 0 || !fits(elements / each)) return false;

    Node quantized = {Operator::quantized_conv, node.name, {x->integers, weights->integers}, node.outputs};
    if (conv != nullptr) quantized.attributes = QuantizedConvAttributes{*conv};
    if (matmul != nullptr) {
      quantized.op = Operator::quantized_matmul;
      quantized.attributes = QuantizedMatmulAttributes{*matmul};
    }
    const auto add = [&]<class T>(DType dtype, Shape shape, const std::vector<T>& values) {
      quantized.inputs.push_back(add_elements(result_, node.name, dtype, std::move(shape), values));
    };
    add(DType::f32, {}, std::vector{*scale});
    add(DType::f32, {b[filters]}, weights->scales);
    if (*zero != 0) add(DType::i16, {}, std::vector{static_cast<std::int16_t>(*zero)});
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
