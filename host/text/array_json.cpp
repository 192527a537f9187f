#include "host/text/array_json.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "host/text/array_text.h"

namespace ferry::text {

namespace {

template <class T>
T load(const std::uint8_t* from) {
  T value;
  memcpy(&value, from, sizeof value);
  return value;
}

Json float_json(DType dtype, double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return strtod(shortest_text(dtype, value).c_str(), nullptr);
}

Json element_json(DType dtype, const std::uint8_t* from) {
  switch (dtype) {
    case DType::i8: return load<std::int8_t>(from);
    case DType::i16: return load<std::int16_t>(from);
    case DType::i32: return load<std::int32_t>(from);
    case DType::i64: return load<std::int64_t>(from);
    case DType::u8: return load<std::uint8_t>(from);
    case DType::u16: return load<std::uint16_t>(from);
    case DType::u32: return load<std::uint32_t>(from);
    case DType::u64: return load<std::uint64_t>(from);
    case DType::boolean: return load<std::uint8_t>(from) != 0;
    case DType::f16: return float_json(dtype, f16_to_f32(load<std::uint16_t>(from)));
    case DType::bf16: return float_json(dtype, bf16_to_f32(load<std::uint16_t>(from)));
    case DType::f32: return float_json(dtype, load<float>(from));
    case DType::f64: return float_json(dtype, load<double>(from));
  }
  return nullptr;
}

Json nested_json(DType dtype, std::span<const std::int64_t> shape, const std::uint8_t*& from) {
  if (shape.empty()) {
    Json element = element_json(dtype, from);
    from += dtype_bytes(dtype);
    return element;
  }
  Json list = Json::array();
  for (std::int64_t i = 0; i < shape.front(); ++i) list.push_back(nested_json(dtype, shape.subspan(1), from));
  return list;
}

}  // namespace

Json array_json(DType dtype, std::span<const std::int64_t> shape, const void* data) {
  const auto* from = static_cast<const std::uint8_t*>(data);
  return nested_json(dtype, shape, from);
}

}  // namespace ferry::text
