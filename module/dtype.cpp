#include "ferry/types.h"

#include <bit>

namespace ferry {
namespace {

struct Format {
  int exponent_bits;
  int mantissa_bits;
};
constexpr Format kHalf{5, 10};
constexpr Format kBrain{8, 7};

// Rounds a double to a narrow format, to nearest even, in one step.
std::uint16_t narrow(double value, Format format) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int width = format.exponent_bits + format.mantissa_bits;
  const auto sign = static_cast<std::uint16_t>((bits >> 63) << width);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff);
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const auto infinity = static_cast<std::uint32_t>((1 << format.exponent_bits) - 1) << format.mantissa_bits;

  if (exponent == 0x7ff) {
    const std::uint32_t quiet = mantissa == 0 ? 0 : 1u << (format.mantissa_bits - 1);
    // The top bits of a NaN's payload survive, as they do in hardware.
    const auto payload = static_cast<std::uint32_t>(mantissa >> (52 - format.mantissa_bits));
    return static_cast<std::uint16_t>(sign | infinity | quiet | payload);
  }
  if (exponent == 0) return sign;  // below half of the smallest subnormal of either format

  int target = exponent - 1023 + bias;
  std::uint64_t significand = mantissa | (std::uint64_t{1} << 52);
  int drop = 52 - format.mantissa_bits;
  if (target <= 0) {  // subnormal: the exponent field stays 0 and the significand shifts right
    drop += 1 - target;
    if (drop > 54) return sign;
    target = 0;
  } else {
    significand &= ~(std::uint64_t{1} << 52);
  }
  const std::uint64_t rest = significand & ((std::uint64_t{1} << drop) - 1);
  const std::uint64_t half = std::uint64_t{1} << (drop - 1);
  std::uint64_t rounded = significand >> drop;
  if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  // A carry out of the mantissa increments the exponent; this also takes the largest subnormal to the smallest normal
  // number, and the largest finite number to infinity.
  const std::uint64_t result = (static_cast<std::uint64_t>(target) << format.mantissa_bits) + rounded;
  return static_cast<std::uint16_t>(sign | (result >= infinity ? infinity : static_cast<std::uint32_t>(result)));
}

}  // namespace

const char* dtype_name(DType type) {
  switch (type) {
#define FERRY_CASE(tag, name, text, bytes, storage) \
  case DType::name: return text;
    FERRY_DTYPES(FERRY_CASE)
#undef FERRY_CASE
  }
  return "unknown";
}

std::size_t dtype_bytes(DType type) {
  switch (type) {
#define FERRY_CASE(tag, name, text, bytes, storage) \
  case DType::name: return bytes;
    FERRY_DTYPES(FERRY_CASE)
#undef FERRY_CASE
  }
  return 0;
}

bool is_valid_dtype(std::uint8_t tag) { return tag >= 1 && tag <= 13; }

std::optional<DType> parse_dtype(std::string_view text) {
  struct Name {
    std::string_view text;
    DType type;
  };
  static constexpr Name kNames[] = {
#define FERRY_NAME(tag, name, short_text, bytes, storage) {short_text, DType::name},
      FERRY_DTYPES(FERRY_NAME)
#undef FERRY_NAME
          {"half", DType::f16},
      {"float16", DType::f16},
      {"bfloat16", DType::bf16},
      {"float", DType::f32},
      {"float32", DType::f32},
      {"double", DType::f64},
      {"float64", DType::f64},
      {"int8", DType::i8},
      {"int16", DType::i16},
      {"int", DType::i32},
      {"int32", DType::i32},
      {"int64", DType::i64},
      {"uint8", DType::u8},
      {"uint16", DType::u16},
      {"uint32", DType::u32},
      {"uint64", DType::u64},
  };
  for (const Name& name : kNames) {
    if (name.text == text) return name.type;
  }
  return std::nullopt;
}

float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t exponent = (bits >> 10) & 31;
  const std::uint32_t mantissa = bits & 1023;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13 | (mantissa != 0 ? 0x400000u : 0));
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

std::uint16_t f64_to_f16(double value) { return narrow(value, kHalf); }
std::uint16_t f64_to_bf16(double value) { return narrow(value, kBrain); }
// Every float is exactly representable as a double, so the conversion still rounds only once.
std::uint16_t f32_to_f16(float value) { return narrow(value, kHalf); }
std::uint16_t f32_to_bf16(float value) { return narrow(value, kBrain); }

float bf16_to_f32(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

}  // namespace ferry
