#include "crosscompile/analysis/wrapping.h"

#include "ferry/operators.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace ferry::analysis {
namespace {

using namespace ir;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
// Beyond everything that does not wrap and is no data: a literal beside a sum of sizes.
constexpr std::int64_t kBeyond = 2 * kLargestLiteral;
// Beside a sum of sizes below 2^60, a constant of this magnitude still leaves room.
constexpr std::int64_t kLargestConstant = kBeyond + kLargestLiteral;

std::int64_t sum(std::int64_t a, std::int64_t b) { return a > kMost - b ? kMost : a + b; }

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? kMost : result;
}

Reach number(std::int64_t value) {
  Reach reach;
  reach.constant = value < 0 ? (value == std::numeric_limits<std::int64_t>::min() ? kMost : -value) : value;
  return reach;
}

Reach anything() {
  Reach reach;
  reach.down = reach.up = true;
  return reach;
}

bool is_small(const Reach& reach) {
  return !reach.wraps && !reach.down && !reach.up && reach.factor <= kLargestFactor &&
         reach.constant <= kLargestConstant;
}

// The sum or product of two values.
Reach combined(const Reach& a, const Reach& b, bool multiplies) {
  Reach result;
  if (multiplies) {
    result.factor = sum(sum(product(a.factor, b.factor), product(a.factor, b.constant)), product(a.constant, b.factor));
    result.constant = product(a.constant, b.constant);
  } else {
    result.factor = sum(a.factor, b.factor);
    result.constant = sum(a.constant, b.constant);
  }
  if (is_small(a) && is_small(b) && is_small(result)) return result;
  result = anything();
  result.wraps = true;
  return result;
}

// A value that is one of two.
Reach either(const Reach& a, const Reach& b) {
  return {std::max(a.factor, b.factor), std::max(a.constant, b.constant), a.down || b.down, a.up || b.up,
          a.wraps || b.wraps};
}

Reach reach_of_type(Type type) {
  const int bits = type.is_bool() ? 1 : type.bits();
  return type.is_float() || bits >= 64 ? anything() : number(std::int64_t{1} << bits);
}

Reach reach_of_binary(const Binary& node, const IsData& is_data) {
  const Reach left = reach_of(node.left, is_data), right = reach_of(node.right, is_data);
  Reach result = either(left, right);
  switch (node.op) {
    case BinaryOp::add:
    case BinaryOp::sub: return combined(left, right, false);
    case BinaryOp::mul: return combined(left, right, true);
    case BinaryOp::shl: {
      const std::int64_t* by = as_int(node.right);
      if (by != nullptr && *by >= 0 && *by < 62) return combined(left, number(std::int64_t{1} << *by), true);
      result = anything();
      result.wraps = true;
      return result;
    }
    // A quotient is no larger than its dividend, and a remainder is smaller than the divisor.
    case BinaryOp::div:
    case BinaryOp::shr: result.down = result.up = left.down || left.up; return result;
    case BinaryOp::mod: result.down = result.up = right.down || right.up; return result;
    case BinaryOp::min: result.up = left.up && right.up; return result;
    case BinaryOp::max: result.down = left.down && right.down; return result;
    case BinaryOp::bit_and:
      for (const Expr& side : {node.left, node.right}) {
        const std::int64_t* mask = as_int(side);
        if (mask == nullptr || *mask < 0) continue;
        const bool wraps = result.wraps;
        result = number(*mask);
        result.wraps = wraps;
        return result;
      }
      break;
    default: break;
  }
  const bool wraps = result.wraps;
  result = reach_of_type(node.type);
  result.wraps = wraps;
  return result;
}

bool adds_or_multiplies(const Expr& expr) {
  const auto* binary = expr.as<Binary>();
  return binary != nullptr && expr.type() == kIndex &&
         (binary->op == BinaryOp::add || binary->op == BinaryOp::sub || binary->op == BinaryOp::mul);
}

}  // namespace

Reach reach_of(const Expr& expr, const IsData& is_data) {
  if (const std::int64_t* value = as_int(expr)) return number(*value);
  if (expr.as<Var>() != nullptr) {
    if (expr.type() != kIndex) return reach_of_type(expr.type());
    if (is_data && is_data(expr)) return anything();
    Reach reach;
    reach.factor = 1;
    return reach;
  }
  if (const auto* unary = expr.as<Unary>(); unary != nullptr && unary->op == UnaryOp::neg && expr.type() == kIndex)
    return combined(number(0), reach_of(unary->value, is_data), false);
  if (const auto* binary = expr.as<Binary>(); binary != nullptr && expr.type() == kIndex)
    return reach_of_binary(*binary, is_data);
  if (const auto* select = expr.as<Select>())
    return either(reach_of(select->on_true, is_data), reach_of(select->on_false, is_data));
  if (const auto* choice = expr.as<IfThenElse>())
    return either(reach_of(choice->on_true, is_data), reach_of(choice->on_false, is_data));
  if (const auto* cast = expr.as<Cast>(); cast != nullptr && expr.type() == kIndex)
    return reach_of_type(cast->value.type());
  return reach_of_type(expr.type());
}

bool may_wrap(const Expr& expr, const IsData& is_data) {
  const Reach reach = reach_of(expr, is_data);
  return reach.wraps || reach.factor > kLargestFactor;
}

bool wraps_inside(const Expr& expr, const IsData& is_data) {
  if (const auto* unary = expr.as<Unary>(); unary != nullptr && unary->op == UnaryOp::neg)
    return wraps_inside(unary->value, is_data);
  if (!adds_or_multiplies(expr)) return may_wrap(expr, is_data);
  const auto& binary = *expr.as<Binary>();
  return wraps_inside(binary.left, is_data) || wraps_inside(binary.right, is_data);
}

Expr limited(const Expr& expr, const IsData& is_data) {
  const Reach reach = reach_of(expr, is_data);
  Expr result = expr;
  if (reach.up) result = min(result, Expr(kBeyond));
  if (reach.down) result = max(result, Expr(-kBeyond));
  return result;
}

}  // namespace ferry::analysis
