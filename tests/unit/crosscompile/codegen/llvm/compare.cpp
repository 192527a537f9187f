#include "tests/unit/crosscompile/codegen/llvm/compare.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace ferry::codegen_test {
namespace {

template <class T>
T read(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

std::uint64_t bits_of(const unsigned char* from, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, bytes);
  return bits;
}

double float_value(DType dtype, const unsigned char* from) {
  switch (dtype) {
    case DType::f16: return f16_to_f32(read<std::uint16_t>(from));
    case DType::bf16: return bf16_to_f32(read<std::uint16_t>(from));
    case DType::f32: return read<float>(from);
    default: return read<double>(from);
  }
}

int mantissa_bits(DType dtype) {
  switch (dtype) {
    case DType::f16: return 10;
    case DType::bf16: return 7;
    case DType::f32: return 23;
    default: return 52;
  }
}

bool close(double expected, double got, DType dtype, double ulps) {
  if (!std::isfinite(expected) || !std::isfinite(got)) return false;
  const int smallest = dtype == DType::f16 ? -14 : dtype == DType::f64 ? -1022 : -126;
  const int exponent = expected == 0 ? smallest : std::max(std::ilogb(expected), smallest);
  return std::fabs(expected - got) <= ulps * std::ldexp(1.0, exponent - mantissa_bits(dtype));
}

bool agree(DType dtype, const unsigned char* expected, const unsigned char* got, const Tolerance& tolerance) {
  const std::size_t bytes = dtype_bytes(dtype);
  if (std::memcmp(expected, got, bytes) == 0) return true;
  if (!is_float(dtype)) return false;
  const double a = float_value(dtype, expected);
  const double b = float_value(dtype, got);
  if (std::isnan(a) && std::isnan(b)) return true;
  if (tolerance.any_zero && a == 0 && b == 0) return true;
  if (tolerance.flushed && b == 0 && std::fabs(a) <= 0x1.00001p-126) return true;
  return tolerance.ulps > 0 && close(a, b, dtype, tolerance.ulps);
}

std::string element_text(DType dtype, const unsigned char* from) {
  char text[80];
  const std::uint64_t bits = bits_of(from, dtype_bytes(dtype));
  if (is_float(dtype)) {
    std::snprintf(text, sizeof text, "%.17g (0x%llx)", float_value(dtype, from), static_cast<unsigned long long>(bits));
  } else {
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  }
  return text;
}

}  // namespace

std::string first_difference(DType dtype, std::span<const unsigned char> expected, std::span<const unsigned char> got,
                             const Tolerance& tolerance) {
  const std::size_t bytes = dtype_bytes(dtype);
  for (std::size_t at = 0; at + bytes <= expected.size(); at += bytes) {
    if (agree(dtype, expected.data() + at, got.data() + at, tolerance)) continue;
    return "element " + std::to_string(at / bytes) + ": expected " + element_text(dtype, expected.data() + at) +
           ", got " + element_text(dtype, got.data() + at);
  }
  return "";
}

}  // namespace ferry::codegen_test
