#include "module/element_difference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace ferry {

double element_value(DType dtype, const std::uint8_t* element) {
  const auto size = static_cast<unsigned>(dtype_bytes(dtype));
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, size);
  if (dtype == DType::f16) return f16_to_f32(static_cast<std::uint16_t>(bits));
  if (dtype == DType::bf16) return bf16_to_f32(static_cast<std::uint16_t>(bits));
  if (dtype == DType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (dtype == DType::f64) return std::bit_cast<double>(bits);
  if (!is_signed_int(dtype)) return static_cast<double>(bits);
  const unsigned above = 64 - 8 * size;
  return static_cast<double>(static_cast<std::int64_t>(bits << above) >> above);
}

bool elements_differ(DType dtype, const std::uint8_t* a, const std::uint8_t* b, double rtol, double atol) {
  if (std::memcmp(a, b, dtype_bytes(dtype)) == 0) return false;
  const double x = element_value(dtype, a), y = element_value(dtype, b);
  const bool is_exact = rtol == 0 && atol == 0;
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) != std::isnan(y);
  // Integers of other bytes are different ones, although they may be equal as doubles.
  if (x == y || is_exact) return is_exact;
  return std::isinf(x) || std::isinf(y) || !(std::abs(x - y) <= atol + rtol * std::max(std::abs(x), std::abs(y)));
}

}  // namespace ferry
