#include "module/float_element.h"

#include <cstring>

namespace ferry {

void store_float(DType dtype, double value, std::uint8_t* into) {
  const auto put = [&](auto bits) { std::memcpy(into, &bits, sizeof bits); };
  if (dtype == DType::f16) return put(f64_to_f16(value));
  if (dtype == DType::bf16) return put(f64_to_bf16(value));
  if (dtype == DType::f32) return put(static_cast<float>(value));
  put(value);
}

double load_float(DType dtype, const std::uint8_t* from) {
  const auto get = [&](auto value) {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  if (dtype == DType::f16) return f16_to_f32(get(std::uint16_t{}));
  if (dtype == DType::bf16) return bf16_to_f32(get(std::uint16_t{}));
  if (dtype == DType::f32) return get(float{});
  return get(double{});
}

}  // namespace ferry
