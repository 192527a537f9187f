// The element types of tensors and scalars, and the kinds of parameters, on the wire, in manifests and in the compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ferry {

// Tag (never reused), enumerator, short name used in text, bytes, C++ storage type.
#define FERRY_DTYPES(X)                \
  X(1, f16, "f16", 2, std::uint16_t)   \
  X(2, bf16, "bf16", 2, std::uint16_t) \
  X(3, f32, "f32", 4, float)           \
  X(4, f64, "f64", 8, double)          \
  X(5, i8, "i8", 1, std::int8_t)       \
  X(6, i16, "i16", 2, std::int16_t)    \
  X(7, i32, "i32", 4, std::int32_t)    \
  X(8, i64, "i64", 8, std::int64_t)    \
  X(9, u8, "u8", 1, std::uint8_t)      \
  X(10, u16, "u16", 2, std::uint16_t)  \
  X(11, u32, "u32", 4, std::uint32_t)  \
  X(12, u64, "u64", 8, std::uint64_t)  \
  X(13, boolean, "bool", 1, std::uint8_t) /* a byte holding 0 or 1 */

enum class DType : std::uint8_t {
#define FERRY_ENUM(tag, name, text, bytes, storage) name = tag,
  FERRY_DTYPES(FERRY_ENUM)
#undef FERRY_ENUM
};

const char* dtype_name(DType type);
std::size_t dtype_bytes(DType type);
// Returns false for a number from the wire that is not a tag of a type.
bool is_valid_dtype(std::uint8_t tag);
// Accepts the short names and the long ones (float32, float, double, int, int8, uint8, half, bfloat16, ...).
std::optional<DType> parse_dtype(std::string_view text);

constexpr bool is_float(DType t) { return t == DType::f16 || t == DType::bf16 || t == DType::f32 || t == DType::f64; }
constexpr bool is_signed_int(DType t) {
  return t == DType::i8 || t == DType::i16 || t == DType::i32 || t == DType::i64;
}
constexpr bool is_unsigned_int(DType t) {
  return t == DType::u8 || t == DType::u16 || t == DType::u32 || t == DType::u64;
}

// Converts single narrow floats. Widening is exact; narrowing rounds to nearest even, NaN stays NaN and overflow
// becomes infinity.
float f16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_f16(float value);
std::uint16_t f64_to_f16(double value);
float bf16_to_f32(std::uint16_t bits);
std::uint16_t f32_to_bf16(float value);
std::uint16_t f64_to_bf16(double value);

enum class ParameterKind : std::uint8_t { tensor = 1, scalar = 2 };
// Whether a kernel reads or writes a parameter. Scalars are only read.
enum class Direction : std::uint8_t { in = 1, out = 2, inout = 3 };

}  // namespace ferry
