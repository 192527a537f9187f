// Evaluates one scalar operation as expr.h defines it. Constant folding, the interpreter and the simplifier share this
// code, so that the semantics have one implementation.
#pragma once

#include "crosscompile/ir/expr.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ferry::ir {

// Returns the low bits of `value`, extended to 64 bits according to the type (for bool: 1 if it is not 0, else 0).
std::int64_t wrap(DType type, std::int64_t value);
// Returns `value` rounded once to the type.
double round_to(DType type, double value);

// Integers and bool; the operands are normalised like IntImm::value, and so is the result (0 or 1 for comparisons).
std::int64_t apply_int(BinaryOp op, DType type, std::int64_t left, std::int64_t right);
// add, sub, mul, div, min and max in `type`; the operands are values of it.
double apply_float(BinaryOp op, DType type, double left, double right);
bool compare_float(BinaryOp op, double left, double right);

double int_to_float(DType from, std::int64_t value, DType to);
std::int64_t float_to_int(double value, DType to);

template <class T>
using Unsigned = std::make_unsigned_t<T>;

template <class T>
T floor_div(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(Unsigned<T>(0) - static_cast<Unsigned<T>>(a));
    const T quotient = static_cast<T>(a / b);
    return static_cast<T>(a % b != 0 && ((a < 0) != (b < 0)) ? quotient - 1 : quotient);
  } else {
    return static_cast<T>(a / b);
  }
}

template <class T>
T floor_mod(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
    const T rest = static_cast<T>(a % b);
    return static_cast<T>(rest != 0 && ((rest < 0) != (b < 0)) ? rest + b : rest);
  } else {
    return static_cast<T>(a % b);
  }
}

template <class T>
T shift_left(T a, T b) {
  if (static_cast<Unsigned<T>>(b) >= sizeof(T) * 8) return 0;
  return static_cast<T>(static_cast<std::uint64_t>(a) << b);
}

template <class T>
T shift_right(T a, T b) {
  if (static_cast<Unsigned<T>>(b) >= sizeof(T) * 8) return static_cast<T>(a < 0 ? -1 : 0);
  return static_cast<T>(a >> b);
}

// Returns NaN when either side is NaN.
template <class T>
T float_min(T a, T b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? a : b;
}
template <class T>
T float_max(T a, T b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : a > b ? a : b;
}

}  // namespace ferry::ir
