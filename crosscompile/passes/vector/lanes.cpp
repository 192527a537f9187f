#include "crosscompile/passes/vector/lanes.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

#include <algorithm>
#include <optional>
#include <string>

namespace ferry::passes {
namespace {

using namespace ir;

// base + lane * stride; a scalar or broadcast has stride 0.
struct Progression {
  Expr base, stride;
};

std::optional<Progression> progression_of(const Expr& value) {
  if (const auto* ramp = value.as<Ramp>()) return Progression{ramp->base, ramp->stride};
  const Type element = value.type().element();
  if (const auto* broadcast = value.as<Broadcast>())
    return Progression{broadcast->value, constant(element, std::int64_t{0})};
  if (value.type().is_scalar()) return Progression{value, constant(element, std::int64_t{0})};
  return std::nullopt;
}

Expr make_progression(const Expr& base, const Expr& stride, std::uint32_t lanes) {
  return is_constant(stride, 0) ? Broadcast::make(base, lanes) : Ramp::make(base, stride, lanes);
}

// Multiplies, but folds zeros: strides of zero meet every factor of an address.
Expr times(const Expr& a, const Expr& b) {
  if (is_constant(a, 0)) return a;
  return is_constant(b, 0) ? b : a * b;
}

}  // namespace

Expr widen(const Expr& value, std::uint32_t lanes) {
  if (value.type().lanes == lanes) return value;
  if (value.type().is_scalar()) return Broadcast::make(value, lanes);
  throw InternalError("widen: expected a scalar or " + std::to_string(lanes) + " lanes, got " + to_text(value.type()));
}

Expr lane_binary(BinaryOp op, const Expr& left, const Expr& right) {
  const std::uint32_t lanes = std::max(left.type().lanes, right.type().lanes);
  if (lanes > 1 && left.type().is_int()) {
    const auto a = progression_of(left);
    const auto b = progression_of(right);
    if (a && b) {
      if (op == BinaryOp::add) return make_progression(a->base + b->base, a->stride + b->stride, lanes);
      if (op == BinaryOp::sub) return make_progression(a->base - b->base, a->stride - b->stride, lanes);
      if (op == BinaryOp::mul && is_constant(b->stride, 0))
        return make_progression(times(a->base, b->base), times(a->stride, b->base), lanes);
      if (op == BinaryOp::mul && is_constant(a->stride, 0))
        return make_progression(times(a->base, b->base), times(a->base, b->stride), lanes);
    }
  }
  if (lanes == 1 && op == BinaryOp::add) return left + right;
  if (lanes == 1 && op == BinaryOp::sub) return left - right;
  if (lanes == 1 && op == BinaryOp::mul) return times(left, right);
  return Binary::make(op, widen(left, lanes), widen(right, lanes));
}

}  // namespace ferry::passes
