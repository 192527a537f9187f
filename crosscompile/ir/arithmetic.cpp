#include "crosscompile/ir/arithmetic.h"

#include "crosscompile/ir/error.h"

namespace ferry::ir {
namespace {

template <class T>
std::int64_t apply(BinaryOp op, std::int64_t left, std::int64_t right) {
  const T a = static_cast<T>(left);
  const T b = static_cast<T>(right);
  // Unsigned 64-bit arithmetic wraps, and its low bits are right for every narrower type.
  const auto ua = static_cast<std::uint64_t>(left);
  const auto ub = static_cast<std::uint64_t>(right);
  const auto narrow = [](std::uint64_t bits) { return static_cast<std::int64_t>(static_cast<T>(bits)); };
  switch (op) {
    case BinaryOp::add: return narrow(ua + ub);
    case BinaryOp::sub: return narrow(ua - ub);
    case BinaryOp::mul: return narrow(ua * ub);
    case BinaryOp::div: return static_cast<std::int64_t>(floor_div(a, b));
    case BinaryOp::mod: return static_cast<std::int64_t>(floor_mod(a, b));
    case BinaryOp::min: return static_cast<std::int64_t>(a < b ? a : b);
    case BinaryOp::max: return static_cast<std::int64_t>(a > b ? a : b);
    case BinaryOp::bit_and: return left & right;
    case BinaryOp::bit_or: return left | right;
    case BinaryOp::bit_xor: return left ^ right;
    case BinaryOp::shl: return static_cast<std::int64_t>(shift_left(a, b));
    case BinaryOp::shr: return static_cast<std::int64_t>(shift_right(a, b));
    case BinaryOp::eq: return a == b;
    case BinaryOp::ne: return a != b;
    case BinaryOp::lt: return a < b;
    case BinaryOp::le: return a <= b;
    case BinaryOp::gt: return a > b;
    case BinaryOp::ge: return a >= b;
    case BinaryOp::logical_and: return left != 0 && right != 0;
    case BinaryOp::logical_or: return left != 0 || right != 0;
  }
  throw InternalError("apply_int: unknown operation");
}

template <class T>
double apply_native(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::add: return a + b;
    case BinaryOp::sub: return a - b;
    case BinaryOp::mul: return a * b;
    case BinaryOp::div: return a / b;
    case BinaryOp::min: return float_min(a, b);
    case BinaryOp::max: return float_max(a, b);
    default: throw InternalError("apply_float: not an operation on floats");
  }
}

template <class T>
std::int64_t saturate(double value) {
  if (std::isnan(value)) return 0;
  const double truncated = std::trunc(value);
  // Both bounds as doubles: the upper one may round up to a power of two, which itself does not fit.
  if (truncated <= static_cast<double>(std::numeric_limits<T>::min())) {
    return static_cast<std::int64_t>(std::numeric_limits<T>::min());
  }
  if (truncated >= std::ldexp(1.0, std::numeric_limits<T>::digits)) {
    return static_cast<std::int64_t>(std::numeric_limits<T>::max());
  }
  return static_cast<std::int64_t>(static_cast<T>(truncated));
}

}  // namespace

std::int64_t wrap(DType type, std::int64_t value) {
  switch (type) {
    case DType::i8: return static_cast<std::int8_t>(value);
    case DType::i16: return static_cast<std::int16_t>(value);
    case DType::i32: return static_cast<std::int32_t>(value);
    case DType::u8: return static_cast<std::uint8_t>(value);
    case DType::u16: return static_cast<std::uint16_t>(value);
    case DType::u32: return static_cast<std::uint32_t>(value);
    case DType::i64:
    case DType::u64: return value;
    case DType::boolean: return value != 0;
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64: break;
  }
  throw InternalError("wrap: not an integer type");
}

double round_to(DType type, double value) {
  switch (type) {
    case DType::f16: return f16_to_f32(f64_to_f16(value));
    case DType::bf16: return bf16_to_f32(f64_to_bf16(value));
    case DType::f32: return static_cast<float>(value);
    default: return value;
  }
}

std::int64_t apply_int(BinaryOp op, DType type, std::int64_t left, std::int64_t right) {
  switch (type) {
    case DType::i8: return apply<std::int8_t>(op, left, right);
    case DType::i16: return apply<std::int16_t>(op, left, right);
    case DType::i32: return apply<std::int32_t>(op, left, right);
    case DType::i64: return apply<std::int64_t>(op, left, right);
    case DType::u8: return apply<std::uint8_t>(op, left, right);
    case DType::u16: return apply<std::uint16_t>(op, left, right);
    case DType::u32: return apply<std::uint32_t>(op, left, right);
    case DType::u64: return apply<std::uint64_t>(op, left, right);
    case DType::boolean: return apply<std::uint8_t>(op, left, right);
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64: break;
  }
  throw InternalError("apply_int: not an integer type");
}

double apply_float(BinaryOp op, DType type, double left, double right) {
  if (type == DType::f64) return apply_native(op, left, right);
  const double result = apply_native(op, static_cast<float>(left), static_cast<float>(right));
  switch (type) {
    case DType::f16: return f16_to_f32(f32_to_f16(static_cast<float>(result)));
    case DType::bf16: return bf16_to_f32(f32_to_bf16(static_cast<float>(result)));
    default: return result;
  }
}

bool compare_float(BinaryOp op, double left, double right) {
  switch (op) {
    case BinaryOp::eq: return left == right;
    case BinaryOp::ne: return left != right;
    case BinaryOp::lt: return left < right;
    case BinaryOp::le: return left <= right;
    case BinaryOp::gt: return left > right;
    case BinaryOp::ge: return left >= right;
    default: throw InternalError("compare_float: not a comparison");
  }
}

double int_to_float(DType from, std::int64_t value, DType to) {
  const bool is_u64 = from == DType::u64;
  const auto bits = static_cast<std::uint64_t>(value);
  if (to == DType::f32) return is_u64 ? static_cast<float>(bits) : static_cast<float>(value);
  if (to == DType::f64) return is_u64 ? static_cast<double>(bits) : static_cast<double>(value);
  // Narrow types are converted through double. Bits that a double cannot hold are folded into its last bit, so that the
  // second rounding still sees on which side of the midpoint the value was.
  const bool negative = !is_u64 && value < 0;
  std::uint64_t magnitude = negative ? 0 - bits : bits;
  if (magnitude >> 53 != 0) magnitude = (magnitude >> 11 << 11) | ((magnitude & 0x7ff) != 0 ? 1u << 11 : 0);
  const double exact = static_cast<double>(magnitude);
  return round_to(to, negative ? -exact : exact);
}

std::int64_t float_to_int(double value, DType to) {
  switch (to) {
    case DType::i8: return saturate<std::int8_t>(value);
    case DType::i16: return saturate<std::int16_t>(value);
    case DType::i32: return saturate<std::int32_t>(value);
    case DType::i64: return saturate<std::int64_t>(value);
    case DType::u8: return saturate<std::uint8_t>(value);
    case DType::u16: return saturate<std::uint16_t>(value);
    case DType::u32: return saturate<std::uint32_t>(value);
    case DType::u64: return saturate<std::uint64_t>(value);
    case DType::boolean: return value != 0;
    case DType::f16:
    case DType::bf16:
    case DType::f32:
    case DType::f64: break;
  }
  throw InternalError("float_to_int: not an integer type");
}

}  // namespace ferry::ir
