#include "host/graph/passes/integer_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ferry::graph {
namespace {

template <class T>
std::optional<std::vector<std::int32_t>> elements_of(const ConstantData& data) {
  std::vector<T> elements(data.bytes.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), data.bytes.data(), elements.size() * sizeof(T));
  std::vector<std::int32_t> result;
  for (const T element : elements) {
    const auto real = static_cast<double>(element);
    if (!(real >= INT16_MIN && real <= INT16_MAX) || real != std::trunc(real)) return std::nullopt;
    result.push_back(static_cast<std::int32_t>(element));
  }
  return result;
}

template <class T>
IntegerWeights narrowed(DType dtype, const std::vector<std::int32_t>& elements) {
  return {dtype, constant_data(std::vector<T>(elements.begin(), elements.end()))};
}

}  // namespace

template <class T>
std::shared_ptr<const ConstantData> constant_data(const std::vector<T>& elements) {
  const auto data = std::make_shared<std::vector<std::uint8_t>>(elements.size() * sizeof(T));
  if (!elements.empty()) std::memcpy(data->data(), elements.data(), data->size());
  return std::make_shared<const ConstantData>(ConstantData{*data, data});
}

template std::shared_ptr<const ConstantData> constant_data(const std::vector<float>&);
template std::shared_ptr<const ConstantData> constant_data(const std::vector<std::int16_t>&);

std::optional<std::vector<std::int32_t>> integers_of(const Tensor& tensor) {
  if (tensor.constant == nullptr) return std::nullopt;
  switch (tensor.dtype) {
    case DType::u8: return elements_of<std::uint8_t>(*tensor.constant);
    case DType::i8: return elements_of<std::int8_t>(*tensor.constant);
    case DType::i16: return elements_of<std::int16_t>(*tensor.constant);
    case DType::i32: return elements_of<std::int32_t>(*tensor.constant);
    case DType::f32: return elements_of<float>(*tensor.constant);
    default: return std::nullopt;
  }
}

std::optional<IntegerWeights> without_zero_points(const Graph& graph, TensorId weights, TensorId zero, std::size_t d) {
  const Tensor& tensor = graph.tensor(weights);
  if (tensor.constant == nullptr) return std::nullopt;
  if (tensor.dtype == DType::i8 && zero == kNoTensor) return IntegerWeights{DType::i8, tensor.constant};
  auto integers = integers_of(tensor);
  if (!integers) return std::nullopt;
  if (zero != kNoTensor) {
    const auto zeros = integers_of(graph.tensor(zero));
    if (!zeros || zeros->empty()) return std::nullopt;
    const auto [least, greatest] = std::ranges::minmax(*zeros);
    const bool is_signed = tensor.dtype == DType::i8;
    if (least < (is_signed ? INT8_MIN : 0) || greatest > (is_signed ? INT8_MAX : UINT8_MAX)) return std::nullopt;
    const auto filters = static_cast<std::size_t>(*tensor.shape[d].constant());
    const bool is_single = zeros->size() == 1;
    if (!is_single &&
        (zeros->size() != filters || size_at(graph.tensor(zero).shape, d, tensor.shape.size()) != tensor.shape[d]))
      return std::nullopt;
    // The number of elements of one entry of the dimension in a row.
    std::size_t inner = 1;
    for (std::size_t i = d + 1; i < tensor.shape.size(); ++i)
      inner *= static_cast<std::size_t>(*tensor.shape[i].constant());
    for (std::size_t i = 0; i < integers->size(); ++i) (*integers)[i] -= (*zeros)[is_single ? 0 : i / inner % filters];
  }
  const bool fits_int8 =
      std::ranges::all_of(*integers, [](std::int32_t value) { return value >= INT8_MIN && value <= INT8_MAX; });
  return fits_int8 ? narrowed<std::int8_t>(DType::i8, *integers) : narrowed<std::int16_t>(DType::i16, *integers);
}

}  // namespace ferry::graph
