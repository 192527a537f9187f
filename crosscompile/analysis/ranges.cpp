#include "crosscompile/analysis/ranges.h"

#include <algorithm>

namespace ferry::analysis {
namespace {

using ir::BinaryOp;

ValueRange of_type(ir::Type type) {
  const auto of = [](auto zero) {
    using T = decltype(zero);
    return ValueRange{static_cast<std::int64_t>(std::numeric_limits<T>::min()),
                      static_cast<std::int64_t>(std::numeric_limits<T>::max())};
  };
  switch (type.code) {
    case DType::i8: return of(std::int8_t{});
    case DType::i16: return of(std::int16_t{});
    case DType::i32: return of(std::int32_t{});
    case DType::u8: return of(std::uint8_t{});
    case DType::u16: return of(std::uint16_t{});
    case DType::u32: return of(std::uint32_t{});
    case DType::boolean: return {0, 1};
    default: return {};
  }
}

// Returns the range when all of it fits the type, so that no operation wrapped, and otherwise the range of the type.
ValueRange fitted(ir::Type type, bool overflowed, ValueRange range) {
  const ValueRange whole = of_type(type);
  return overflowed || !range.within(whole.min, whole.max) ? whole : range;
}

template <class Operation>
ValueRange corners(ir::Type type, const ValueRange& a, const ValueRange& b, Operation operation) {
  ValueRange result{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  bool overflowed = false;
  for (const std::int64_t left : {a.min, a.max}) {
    for (const std::int64_t right : {b.min, b.max}) {
      std::int64_t value = 0;
      overflowed = operation(left, right, &value) || overflowed;
      result.min = std::min(result.min, value);
      result.max = std::max(result.max, value);
    }
  }
  return fitted(type, overflowed, result);
}

bool add_overflows(std::int64_t a, std::int64_t b, std::int64_t* to) { return __builtin_add_overflow(a, b, to); }
bool sub_overflows(std::int64_t a, std::int64_t b, std::int64_t* to) { return __builtin_sub_overflow(a, b, to); }
bool mul_overflows(std::int64_t a, std::int64_t b, std::int64_t* to) { return __builtin_mul_overflow(a, b, to); }

ValueRange united(const ValueRange& a, const ValueRange& b) { return {std::min(a.min, b.min), std::max(a.max, b.max)}; }

ValueRange of_binary(const ValueRanges& variables, const ir::Binary& node) {
  const ir::Type type = node.type;
  if (!type.is_int()) return of_type(type);
  const ValueRange a = range_of(variables, node.left);
  const ValueRange b = range_of(variables, node.right);
  switch (node.op) {
    case BinaryOp::add: return corners(type, a, b, add_overflows);
    case BinaryOp::sub: return corners(type, a, b, sub_overflows);
    case BinaryOp::mul: return corners(type, a, b, mul_overflows);
    case BinaryOp::div:
      // Dividing by zero gives zero.
      if (a.is_non_negative() && b.is_non_negative()) {
        return {b.min == 0 || b.max == 0 ? 0 : a.min / b.max,
                b.max == 0 ? 0 : a.max / std::max<std::int64_t>(b.min, 1)};
      }
      return of_type(type);
    case BinaryOp::mod:
      if (b.is_non_negative()) return {0, std::max<std::int64_t>(b.max - 1, 0)};
      return of_type(type);
    case BinaryOp::min: return {std::min(a.min, b.min), std::min(a.max, b.max)};
    case BinaryOp::max: return {std::max(a.min, b.min), std::max(a.max, b.max)};
    case BinaryOp::bit_and:
      if (a.is_non_negative() && b.is_non_negative()) return {0, std::min(a.max, b.max)};
      if (b.is_non_negative()) return {0, b.max};
      if (a.is_non_negative()) return {0, a.max};
      return of_type(type);
    case BinaryOp::shr:
      if (a.is_non_negative()) return {0, a.max};
      return of_type(type);
    default: return of_type(type);
  }
}

}  // namespace

ValueRange range_of(const ValueRanges& variables, const ir::Expr& expr) {
  const ir::Type type = expr.type();
  const auto* imm = expr.as<ir::IntImm>();
  if (imm != nullptr && (type.code != DType::u64 || imm->value >= 0)) return {imm->value, imm->value};
  if (type.code == DType::u64 || type.is_float()) return {};
  if (const auto* var = expr.as<ir::Var>()) {
    const auto found = variables.find(var);
    return found == variables.end() ? of_type(type) : found->second;
  }
  if (const auto* binary = expr.as<ir::Binary>()) return of_binary(variables, *binary);
  if (const auto* broadcast = expr.as<ir::Broadcast>()) return range_of(variables, broadcast->value);
  if (const auto* ramp = expr.as<ir::Ramp>()) {
    const ValueRange steps{0, static_cast<std::int64_t>(type.lanes) - 1};
    const ValueRange offset = corners(type, range_of(variables, ramp->stride), steps, mul_overflows);
    return corners(type, range_of(variables, ramp->base), offset, add_overflows);
  }
  if (const auto* cast = expr.as<ir::Cast>()) {
    const ir::Type from = cast->value.type();
    if ((from.is_int() && from.code != DType::u64) || from.is_bool()) {
      return fitted(type, false, range_of(variables, cast->value));
    }
    return of_type(type);
  }
  if (const auto* select = expr.as<ir::Select>()) {
    return united(range_of(variables, select->on_true), range_of(variables, select->on_false));
  }
  ValueRange range = of_type(type);
  if (const auto* load = expr.as<ir::Load>(); load != nullptr && load->buffer->storage.above_minimum) ++range.min;
  return range;
}

bool is_above_minimum(const ir::Expr& expr) {
  return expr.type().code == DType::i8 && range_of({}, expr).min > std::numeric_limits<std::int8_t>::min();
}

ValueRange range_of_loop(const ValueRanges& variables, const ir::For& loop) {
  const ValueRange min = range_of(variables, loop.min), extent = range_of(variables, loop.extent);
  ValueRange range{min.min, std::numeric_limits<std::int64_t>::max()};
  std::int64_t last = 0;
  const std::int64_t count = std::min(extent.max, kMaxIterations);
  if (!__builtin_add_overflow(min.max, count, &last) && last > range.min) range.max = last - 1;
  return range;
}

}  // namespace ferry::analysis
