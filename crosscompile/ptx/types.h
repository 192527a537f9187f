// The types of PTX (PTX ISA, "Fundamental Types"), and their values as the 64 bits of a register.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

namespace ferry::ptx {

using Word = std::uint64_t;

enum class Type : std::uint8_t {
  pred,
  b8,
  u8,
  s8,
  b16,
  u16,
  s16,
  f16,
  bf16,
  b32,
  u32,
  s32,
  f32,
  f16x2,
  bf16x2,
  b64,
  u64,
  s64,
  f64
};

std::optional<Type> type_named(std::string_view name);  // "f32"
unsigned bits_of(Type type);                            // 1 for a predicate
inline unsigned bytes_of(Type type) { return (bits_of(type) + 7) / 8; }
bool is_signed(Type type);

inline Word mask_of(unsigned bits) { return bits >= 64 ? ~Word{0} : (Word{1} << bits) - 1; }

template <class T>
T from_word(Word word) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(word));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(word);
  } else {
    return static_cast<T>(word);
  }
}

// Signed integers are sign-extended to the register's width.
template <class T>
Word to_word(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<Word>(value);
  } else {
    return static_cast<Word>(value);
  }
}

// IEEE binary16 and bfloat16 by their bits; conversions round to nearest, ties to even.
double from_f16(std::uint16_t bits);
std::uint16_t to_f16(double value);
double from_bf16(std::uint16_t bits);
std::uint16_t to_bf16(double value);

}  // namespace ferry::ptx
