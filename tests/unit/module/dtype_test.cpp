#include "ferry/types.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace ferry {
namespace {

TEST_CASE("dtypes have names and sizes, and parse from short and long names") {
  CHECK(std::string(dtype_name(DType::bf16)) == "bf16");
  CHECK(dtype_bytes(DType::bf16) == 2);
  CHECK(dtype_bytes(DType::boolean) == 1);
  CHECK(parse_dtype("f32") == DType::f32);
  CHECK(parse_dtype("float") == DType::f32);
  CHECK(parse_dtype("half") == DType::f16);
  CHECK(parse_dtype("bool") == DType::boolean);
  CHECK(parse_dtype("uint64") == DType::u64);
  CHECK_FALSE(parse_dtype("f33").has_value());
  CHECK_FALSE(parse_dtype("").has_value());
  for (unsigned tag = 0; tag < 256; ++tag) {
    const bool valid = tag >= 1 && tag <= 13;
    CHECK(is_valid_dtype(static_cast<std::uint8_t>(tag)) == valid);
    if (valid) CHECK(parse_dtype(dtype_name(static_cast<DType>(tag))) == static_cast<DType>(tag));
  }
}

// Returns the value of a narrow float by its definition.
double value_of(std::uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, 1 - bias - mantissa_bits)
                                         : std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

struct Narrow {
  const char* name;
  int exponent_bits;
  int mantissa_bits;
  float (*widen)(std::uint16_t);
  std::uint16_t (*from_f32)(float);
  std::uint16_t (*from_f64)(double);
};
const Narrow kNarrow[] = {{"f16", 5, 10, f16_to_f32, f32_to_f16, f64_to_f16},
                          {"bf16", 8, 7, bf16_to_f32, f32_to_bf16, f64_to_bf16}};

TEST_CASE("every finite narrow float widens to its value and comes back") {
  for (const Narrow& type : kNarrow) {
    CAPTURE(type.name);
    const unsigned infinity = ((1u << type.exponent_bits) - 1) << type.mantissa_bits;
    for (unsigned bits = 0; bits < 65536; ++bits) {
      if ((bits & 0x7fff) >= infinity) continue;
      const auto narrow = static_cast<std::uint16_t>(bits);
      const double value = value_of(narrow, type.exponent_bits, type.mantissa_bits);
      if (type.widen(narrow) != value || type.from_f64(value) != narrow ||
          type.from_f32(static_cast<float>(value)) != narrow) {
        CAPTURE(bits);
        CHECK(type.widen(narrow) == value);
        CHECK(type.from_f64(value) == narrow);
        CHECK(type.from_f32(static_cast<float>(value)) == narrow);
      }
    }
  }
}

TEST_CASE("rounding is to nearest, ties to even, at every boundary between neighbours") {
  for (const Narrow& type : kNarrow) {
    CAPTURE(type.name);
    const unsigned infinity = ((1u << type.exponent_bits) - 1) << type.mantissa_bits;
    for (unsigned bits = 0; bits + 1 <= infinity; ++bits) {
      const double low = value_of(static_cast<std::uint16_t>(bits), type.exponent_bits, type.mantissa_bits);
      // Beyond the largest number, the boundary is where the next number would be.
      const double step =
          bits + 1 == infinity
              ? low - value_of(static_cast<std::uint16_t>(bits - 1), type.exponent_bits, type.mantissa_bits)
              : value_of(static_cast<std::uint16_t>(bits + 1), type.exponent_bits, type.mantissa_bits) - low;
      const double middle = low + step / 2;
      const unsigned even = bits + (bits & 1);
      const double below = std::nextafter(middle, 0.0);
      const double above = std::nextafter(middle, std::numeric_limits<double>::infinity());
      const bool right = type.from_f64(middle) == even && type.from_f64(-middle) == (even | 0x8000) &&
                         type.from_f64(below) == bits && type.from_f64(above) == bits + 1;
      if (!right) {
        CAPTURE(bits);
        CHECK(type.from_f64(middle) == even);
        CHECK(type.from_f64(-middle) == (even | 0x8000));
        CHECK(type.from_f64(below) == bits);
        CHECK(type.from_f64(above) == bits + 1);
      }
    }
  }
}

TEST_CASE("infinities and NaN stay what they are, overflow becomes infinity") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(f64_to_f16(infinity) == 0x7c00);
  CHECK(f64_to_f16(-infinity) == 0xfc00);
  CHECK(f64_to_bf16(infinity) == 0x7f80);
  CHECK(f64_to_f16(1e300) == 0x7c00);
  CHECK(f64_to_f16(65520.0) == 0x7c00);
  CHECK(f64_to_f16(65519.0) == 0x7bff);
  CHECK(f64_to_bf16(1e300) == 0x7f80);
  CHECK(f64_to_f16(1e-300) == 0);
  CHECK(f64_to_f16(-1e-300) == 0x8000);
  CHECK(std::isinf(f16_to_f32(0x7c00)));
  CHECK(std::isnan(f16_to_f32(0x7e00)));
  CHECK(std::isnan(f16_to_f32(0x7c01)));
  const auto smallest_nan = std::bit_cast<double>(0x7ff0000000000001u);
  CHECK((f64_to_f16(smallest_nan) & 0x7fff) > 0x7c00);
  CHECK((f64_to_bf16(smallest_nan) & 0x7fff) > 0x7f80);
  CHECK((f32_to_bf16(std::bit_cast<float>(0xff800001u)) & 0x7fff) > 0x7f80);
}

}  // namespace
}  // namespace ferry
