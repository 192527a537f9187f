// The type of an expression: an element type and a number of vector lanes.
#pragma once

#include "module/dtype.h"

#include <cstdint>
#include <string>

namespace ferry::ir {

struct Type {
  DType code = DType::i64;
  std::uint32_t lanes = 1;

  constexpr Type() = default;
  constexpr Type(DType element, std::uint32_t lane_count = 1) : code(element), lanes(lane_count) {}
  constexpr bool operator==(const Type&) const = default;

  constexpr bool is_scalar() const { return lanes == 1; }
  constexpr bool is_vector() const { return lanes > 1; }
  constexpr bool is_float() const { return ferry::is_float(code); }
  constexpr bool is_bool() const { return code == DType::boolean; }
  constexpr bool is_signed_int() const { return ferry::is_signed_int(code); }
  constexpr bool is_unsigned_int() const { return ferry::is_unsigned_int(code); }
  constexpr bool is_int() const { return is_signed_int() || is_unsigned_int(); }
  int bits() const { return is_bool() ? 1 : static_cast<int>(dtype_bytes(code)) * 8; }
  constexpr Type element() const { return Type(code); }
  constexpr Type with_lanes(std::uint32_t n) const { return Type(code, n); }
};

// The type of sizes and indices.
inline constexpr Type kIndex{DType::i64};
inline constexpr Type kBool{DType::boolean};

// Returns "f32" or "f32x8", for example.
std::string to_text(Type type);

}  // namespace ferry::ir
