#include "crosscompile/ptx/types.h"

#include <cmath>
#include <utility>

namespace ferry::ptx {
namespace {

constexpr std::pair<std::string_view, Type> kNames[] = {
    {"pred", Type::pred}, {"b8", Type::b8},   {"u8", Type::u8},   {"s8", Type::s8},       {"b16", Type::b16},
    {"u16", Type::u16},   {"s16", Type::s16}, {"f16", Type::f16}, {"bf16", Type::bf16},   {"b32", Type::b32},
    {"u32", Type::u32},   {"s32", Type::s32}, {"f32", Type::f32}, {"f16x2", Type::f16x2}, {"bf16x2", Type::bf16x2},
    {"b64", Type::b64},   {"u64", Type::u64}, {"s64", Type::s64}, {"f64", Type::f64},
};

// Rounds to a float format with `places` explicit fraction bits whose smallest normal number has the exponent `lowest`.
std::uint16_t rounded(double value, int places, int lowest, std::uint16_t infinity) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return 0x7fff;
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  if (value == 0) return sign;
  const int exponent = std::max(std::ilogb(value), lowest);
  const double scaled = std::nearbyint(std::ldexp(std::fabs(value), places - exponent));
  // A significand that rounds up to the next power of two carries into the exponent.
  const double bits = std::ldexp(exponent - lowest, places) + scaled;
  return static_cast<std::uint16_t>(sign | (bits >= infinity ? infinity : static_cast<std::uint16_t>(bits)));
}

double value_of(std::uint16_t bits, int places, int lowest) {
  const int exponents = (1 << (15 - places)) - 1;
  const int exponent = bits >> places & exponents, fraction = bits & ((1 << places) - 1);
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == exponents) return fraction != 0 ? std::nan("") : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, lowest - places);
  return sign * std::ldexp(fraction + (1 << places), lowest + exponent - 1 - places);
}

}  // namespace

std::optional<Type> type_named(std::string_view name) {
  for (const auto& [known, type] : kNames)
    if (known == name) return type;
  return std::nullopt;
}

unsigned bits_of(Type type) {
  switch (type) {
    case Type::pred: return 1;
    case Type::b8:
    case Type::u8:
    case Type::s8: return 8;
    case Type::b16:
    case Type::u16:
    case Type::s16:
    case Type::f16:
    case Type::bf16: return 16;
    case Type::b32:
    case Type::u32:
    case Type::s32:
    case Type::f32:
    case Type::f16x2:
    case Type::bf16x2: return 32;
    case Type::b64:
    case Type::u64:
    case Type::s64:
    case Type::f64: break;
  }
  return 64;
}

bool is_signed(Type type) { return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64; }

double from_f16(std::uint16_t bits) { return value_of(bits, 10, -14); }
std::uint16_t to_f16(double value) { return rounded(value, 10, -14, 0x7c00); }
double from_bf16(std::uint16_t bits) { return value_of(bits, 7, -126); }
std::uint16_t to_bf16(double value) { return rounded(value, 7, -126, 0x7f80); }

}  // namespace ferry::ptx
