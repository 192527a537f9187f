#include "tests/e2e/programs/data.h"

#include <cstring>
#include <stdexcept>

namespace ferry::test {

std::int64_t count(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

Data empty_data(DType dtype, std::vector<std::int64_t> shape) {
  const auto elements = static_cast<std::size_t>(count(shape));
  return {dtype, std::move(shape), std::vector<double>(elements, 0.0), false, {}};
}

Data random_data(DType dtype, std::vector<std::int64_t> shape, std::uint64_t seed) {
  Data data = empty_data(dtype, std::move(shape));
  std::uint64_t state = seed * 0x9e3779b97f4a7c15ULL + 1;
  for (double& value : data.values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto drawn = static_cast<std::int64_t>(state >> 40);
    if (is_float(dtype)) {
      // bfloat16 has a precision of eight bits.
      value =
          dtype == DType::bf16 ? static_cast<double>(drawn % 33 - 16) / 16 : static_cast<double>(drawn % 129 - 64) / 64;
    } else if (dtype == DType::boolean) {
      value = static_cast<double>(drawn % 2);
    } else {
      value = static_cast<double>(drawn % 15 - (is_signed_int(dtype) ? 7 : 0));
    }
  }
  return data;
}

Data view_data(DType dtype, std::vector<std::int64_t> shape, std::vector<std::int64_t> strides, std::uint64_t seed) {
  std::int64_t places = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) places += (shape[d] - 1) * strides[d];
  Data data = random_data(dtype, {places}, seed);
  data.shape = std::move(shape);
  data.strides = std::move(strides);
  return data;
}

Data dense(const Data& view) {
  if (view.strides.empty()) return view;
  Data result = empty_data(view.dtype, view.shape);
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    std::int64_t place = 0;
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t d = view.shape.size(); d-- > 0;) {
      place += rest % view.shape[d] * view.strides[d];
      rest /= view.shape[d];
    }
    result.values[i] = view(place);
  }
  return result;
}

Data scalar_data(DType dtype, double value) { return {dtype, {}, {value}, true, {}}; }

namespace {

template <class Storage>
Storage encode(DType dtype, double value) {
  if (dtype == DType::f16) return static_cast<Storage>(f64_to_f16(value));
  if (dtype == DType::bf16) return static_cast<Storage>(f64_to_bf16(value));
  return static_cast<Storage>(value);
}

template <class Storage>
double decode(DType dtype, Storage stored) {
  if (dtype == DType::f16) return f16_to_f32(static_cast<std::uint16_t>(stored));
  if (dtype == DType::bf16) return bf16_to_f32(static_cast<std::uint16_t>(stored));
  return static_cast<double>(stored);
}

}  // namespace

std::vector<std::uint8_t> to_bytes(const Data& data) {
  std::vector<std::uint8_t> bytes(data.values.size() * dtype_bytes(data.dtype));
  for (std::size_t i = 0; i < data.values.size(); ++i) {
    switch (data.dtype) {
#define FERRY_CASE(tag, name, text, size, storage)                           \
  case DType::name: {                                                        \
    const auto stored = encode<storage>(data.dtype, data.values[i]);         \
    std::memcpy(bytes.data() + i * sizeof(storage), &stored, sizeof stored); \
    break;                                                                   \
  }
      FERRY_DTYPES(FERRY_CASE)
#undef FERRY_CASE
    }
  }
  return bytes;
}

std::vector<double> from_bytes(DType dtype, const std::vector<std::uint8_t>& bytes) {
  std::vector<double> values(bytes.size() / dtype_bytes(dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (dtype) {
#define FERRY_CASE(tag, name, text, size, storage)                           \
  case DType::name: {                                                        \
    storage stored{};                                                        \
    std::memcpy(&stored, bytes.data() + i * sizeof(storage), sizeof stored); \
    values[i] = decode<storage>(dtype, stored);                              \
    break;                                                                   \
  }
      FERRY_DTYPES(FERRY_CASE)
#undef FERRY_CASE
    }
  }
  return values;
}

}  // namespace ferry::test
