#include "host/graph/onnx/known.h"

#include <cstring>
#include <utility>

#include "module/float_element.h"

namespace ferry::graph::onnx {
namespace {

template <class Element>
Element element_at(const ConstantData& data, std::size_t i) {
  Element element;
  std::memcpy(&element, data.bytes.data() + i * sizeof element, sizeof element);
  return element;
}

std::optional<std::int64_t> integer_at(DType dtype, const ConstantData& data, std::size_t i) {
  const auto integer = [](auto value) {
    return std::in_range<std::int64_t>(value) ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
  };
  switch (dtype) {
#define FERRY_CASE(tag, name, text, bytes, storage) \
  case DType::name: return integer(element_at<storage>(data, i));
    FERRY_CASE(5, i8, "i8", 1, std::int8_t)
    FERRY_CASE(6, i16, "i16", 2, std::int16_t)
    FERRY_CASE(7, i32, "i32", 4, std::int32_t)
    FERRY_CASE(8, i64, "i64", 8, std::int64_t)
    FERRY_CASE(9, u8, "u8", 1, std::uint8_t)
    FERRY_CASE(10, u16, "u16", 2, std::uint16_t)
    FERRY_CASE(11, u32, "u32", 4, std::uint32_t)
    FERRY_CASE(12, u64, "u64", 8, std::uint64_t)
    FERRY_CASE(13, boolean, "bool", 1, std::uint8_t)
#undef FERRY_CASE
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64: break;
  }
  return std::nullopt;
}

}  // namespace

double rounded(DType dtype, double value) {
  if (dtype == DType::f16) return f16_to_f32(f64_to_f16(value));
  if (dtype == DType::bf16) return bf16_to_f32(f64_to_bf16(value));
  return dtype == DType::f32 ? static_cast<float>(value) : value;
}

KnownRef known_of(DType dtype, const ConstantData& data) {
  const std::size_t count = data.bytes.size() / dtype_bytes(dtype);
  if (count > kMaxKnown) return nullptr;
  Known known;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_float(dtype)) {
      known.reals.push_back(load_float(dtype, data.bytes.data() + i * dtype_bytes(dtype)));
      continue;
    }
    const std::optional<std::int64_t> integer = integer_at(dtype, data, i);
    if (!integer) return nullptr;
    known.integers.emplace_back(*integer);
  }
  return std::make_shared<Known>(std::move(known));
}

std::optional<ConstantData> bytes_of(DType dtype, const Known& known) {
  const std::size_t size = dtype_bytes(dtype);
  auto bytes = std::make_shared<std::vector<std::uint8_t>>((known.integers.size() + known.reals.size()) * size);
  std::uint8_t* into = bytes->data();
  for (const double real : known.reals) {
    store_float(dtype, real, into);
    into += size;
  }
  for (const Size& integer : known.integers) {
    const std::optional<std::int64_t> number = integer.constant();
    if (!number) return std::nullopt;
    std::memcpy(into, &*number, size);  // little-endian: the low bytes
    into += size;
  }
  return ConstantData{*bytes, bytes};
}

}  // namespace ferry::graph::onnx
