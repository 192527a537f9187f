#include "crosscompile/analysis/affine.h"

#include "crosscompile/analysis/wrapping.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"
#include "ferry/operators.h"

#include <cstdlib>
#include <utility>

namespace ferry::analysis {
namespace {

using namespace ir;

enum class Side { lower, upper };

Side opposite(Side side) { return side == Side::lower ? Side::upper : Side::lower; }

std::optional<Expr> bound_over(const Expr& expr, const Range& range, Side side);

// Bounds the operands of order-preserving operations; affine expressions are handled by the caller.
std::optional<Expr> bound_operation(const Binary& node, const Range& range, Side side) {
  const BinaryOp op = node.op;
  if (op == BinaryOp::mul || op == BinaryOp::div) {
    const std::int64_t* factor = as_int(node.right);
    if (factor == nullptr || (op == BinaryOp::div && *factor <= 0)) return std::nullopt;
    const auto left = bound_over(node.left, range, *factor >= 0 ? side : opposite(side));
    if (!left) return std::nullopt;
    return op == BinaryOp::mul ? *left * node.right : *left / node.right;
  }
  if (op == BinaryOp::mod) {
    const std::int64_t* divisor = as_int(node.right);
    if (divisor == nullptr || *divisor <= 0) return std::nullopt;
    return side == Side::lower ? Expr(0) : Expr(*divisor - 1);
  }
  const bool is_min = op == BinaryOp::min;
  if (op != BinaryOp::add && op != BinaryOp::sub && !is_min && op != BinaryOp::max) return std::nullopt;
  const auto left = bound_over(node.left, range, side);
  const auto right = bound_over(node.right, range, op == BinaryOp::sub ? opposite(side) : side);
  if (left && right) {
    if (op == BinaryOp::add) return *left + *right;
    if (op == BinaryOp::sub) return *left - *right;
    return is_min ? min(*left, *right) : max(*left, *right);
  }
  // Either side alone bounds a min from above and a max from below.
  if (op != BinaryOp::add && op != BinaryOp::sub && is_min == (side == Side::upper)) return left ? left : right;
  return std::nullopt;
}

std::optional<Expr> bound_over(const Expr& expr, const Range& range, Side side) {
  if (!uses_var(expr, range.var)) return expr;
  if (const auto affine = affine_in(expr, range.var)) {
    const bool at_min = (affine->coefficient > 0) == (side == Side::lower);
    return Expr(affine->coefficient) * (at_min ? range.min : range.min + range.extent - 1) + affine->rest;
  }
  const auto* binary = expr.as<Binary>();
  return binary == nullptr ? std::nullopt : bound_operation(*binary, range, side);
}

std::optional<Expr> bound(Expr expr, std::span<const Range> ranges, Side side) {
  if (may_wrap(expr)) return std::nullopt;
  for (std::size_t i = ranges.size(); i-- > 0;) {
    auto next = bound_over(expr, ranges[i], side);
    if (!next) return std::nullopt;
    expr = std::move(*next);
  }
  return expr;
}

std::optional<Affine> scale(const Affine& affine, std::int64_t factor) {
  Affine scaled;
  if (__builtin_mul_overflow(affine.coefficient, factor, &scaled.coefficient)) return std::nullopt;
  scaled.rest = affine.rest * Expr(factor);
  return scaled;
}

}  // namespace

std::optional<Affine> affine_in(const Expr& expr, const Expr& var) {
  if (expr.type() != kIndex) return std::nullopt;
  if (expr.same_as(var)) return Affine{1, 0};
  if (!uses_var(expr, var)) return Affine{0, expr};
  if (const auto* unary = expr.as<Unary>(); unary != nullptr && unary->op == UnaryOp::neg) {
    const auto inner = affine_in(unary->value, var);
    return inner ? scale(*inner, -1) : std::nullopt;
  }
  const auto* binary = expr.as<Binary>();
  if (binary == nullptr) return std::nullopt;
  if (binary->op != BinaryOp::add && binary->op != BinaryOp::sub && binary->op != BinaryOp::mul) return std::nullopt;
  const auto left = affine_in(binary->left, var);
  const auto right = affine_in(binary->right, var);
  if (!left || !right) return std::nullopt;
  if (binary->op == BinaryOp::mul) {
    if (const std::int64_t* factor = as_int(binary->right)) return scale(*left, *factor);
    if (const std::int64_t* factor = as_int(binary->left)) return scale(*right, *factor);
    return std::nullopt;
  }
  Affine sum;
  const bool overflow = binary->op == BinaryOp::add
                            ? __builtin_add_overflow(left->coefficient, right->coefficient, &sum.coefficient)
                            : __builtin_sub_overflow(left->coefficient, right->coefficient, &sum.coefficient);
  if (overflow) return std::nullopt;
  sum.rest = binary->op == BinaryOp::add ? left->rest + right->rest : left->rest - right->rest;
  return sum;
}

std::optional<Expr> lower_bound(const Expr& expr, std::span<const Range> ranges) {
  return bound(expr, ranges, Side::lower);
}

std::optional<Expr> upper_bound(const Expr& expr, std::span<const Range> ranges) {
  return bound(expr, ranges, Side::upper);
}

std::optional<std::int64_t> variation(const Expr& expr, std::span<const Range> ranges) {
  Expr rest = expr;
  std::int64_t total = 0;
  for (std::size_t i = ranges.size(); i-- > 0;) {
    const auto affine = affine_in(rest, ranges[i].var);
    if (!affine) return std::nullopt;
    if (affine->coefficient == 0) continue;
    const std::int64_t* extent = as_int(ranges[i].extent);
    std::int64_t own = 0;
    if (extent == nullptr || __builtin_mul_overflow(std::abs(affine->coefficient), *extent - 1, &own) ||
        __builtin_add_overflow(total, own, &total)) {
      return std::nullopt;
    }
    rest = Expr(affine->coefficient) * ranges[i].min + affine->rest;
  }
  return total;
}

bool is_arithmetic(const Expr& expr) { return !contains(expr, {ExprKind::Load, ExprKind::Call}); }

}  // namespace ferry::analysis
