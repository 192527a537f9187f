#include "host/lang/reference/bounded_expr.h"

#include "crosscompile/intrinsics/lower_intrinsics.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/math_eval.h"
#include "ferry/operators.h"
#include "host/lang/reference/lane_program.h"
#include "host/lang/reference/lanes.h"

#include <limits>

namespace ferry::lang {

using ir::Expr;

namespace {

// The reference evaluator computes narrow floats in float32, as kernels do.
Expr rounded_result(DType type, const Expr& value) {
  return ir::Type(type).is_narrow_float() ? rounded_to(type, ir::cast(DType::f32, value)) : rounded_to(type, value);
}

Expr or_zero(const Expr& error) { return error.defined() ? error : real(0); }

// The error of rounding a result.
Expr with_rounding(const Expr& carried, DType type, const Expr& result, double ulps = 1) {
  const Expr own = magnitude(result) * real(ulps * unit_roundoff(type));
  const double least = smallest_error(type);
  const Expr rounding = least > 0 ? own + real(least) : own;
  return carried.defined() ? carried + rounding : rounding;
}

// The error of a sum, a product, a quotient or a choice of operands, without that of rounding it.
Expr carried_error(ir::BinaryOp op, const BoundedExpr& a, const BoundedExpr& b, const Expr& result) {
  if (a.is_exact() && b.is_exact()) return {};
  switch (op) {
    case ir::BinaryOp::mul: {
      Expr sum = error_sum(b.is_exact() ? Expr() : magnitude(a.value) * b.error,
                           a.is_exact() ? Expr() : magnitude(b.value) * a.error);
      return a.is_exact() || b.is_exact() ? sum : sum + a.error * b.error;
    }
    case ir::BinaryOp::div:
      if (b.is_exact()) return ir::select(a.error > real(0), a.error / magnitude(b.value), real(0));
      // If the divisor may be 0, the error is unbounded.
      return shared(b.error, [&](const Expr& eb) {
        return shared(magnitude(b.value), [&](const Expr& y) {
          const Expr moved = magnitude(result) * eb;
          return ir::select(eb < y, (a.is_exact() ? moved : a.error + moved) / (y - eb), real(kUnbounded));
        });
      });
    case ir::BinaryOp::min:
    case ir::BinaryOp::max: return error_max(a.error, b.error);
    default: return error_sum(a.error, b.error);
  }
}

bool may_stay_infinite(ir::BinaryOp op) {
  return op == ir::BinaryOp::add || op == ir::BinaryOp::sub || op == ir::BinaryOp::mul || op == ir::BinaryOp::div;
}

// Whether the result is infinite because an operand is, as lanes.cpp says.
Expr stays_infinite(ir::BinaryOp op, const BoundedExpr& a, const BoundedExpr& b, const Expr& result) {
  const auto is_infinite = [](const Expr& value) {
    return magnitude(value) > real(std::numeric_limits<double>::max());
  };
  const auto is_certain = [](const BoundedExpr& x) { return magnitude(x.value) > or_zero(x.error); };
  Expr stays = is_infinite(a.value) && is_certain(b);
  if (op == ir::BinaryOp::add || op == ir::BinaryOp::sub)
    stays = is_infinite(a.value) || is_infinite(b.value);
  else if (op == ir::BinaryOp::mul)
    stays = ir::select(is_infinite(a.value), is_certain(b), is_infinite(b.value) && is_certain(a));
  for (const BoundedExpr* operand : {&a, &b})
    if (!operand->is_exact()) stays = stays && operand->error < real(kUnbounded / 2);
  return is_infinite(result) && stays;
}

// An error of 1 means that a correct kernel may decide otherwise.
Expr comparison_error(const BoundedExpr& a, const BoundedExpr& b) {
  if (a.is_exact() && b.is_exact()) return {};
  return shared(error_sum(a.error, b.error), [&](const Expr& both) {
    return ir::select(both > real(0) && !(magnitude(a.value - b.value) > both), real(1), real(0));
  });
}

Expr integer_error(ir::BinaryOp op, DType type, const BoundedExpr& a, const BoundedExpr& b) {
  if (a.is_exact() && b.is_exact()) return {};
  const auto size = [](const Expr& value) { return magnitude(ir::cast(DType::f64, value)); };
  if (op == ir::BinaryOp::mul) {
    const Expr sum =
        error_sum(b.is_exact() ? Expr() : size(a.value) * b.error, a.is_exact() ? Expr() : size(b.value) * a.error);
    return a.is_exact() || b.is_exact() ? sum : sum + a.error * b.error;
  }
  const Expr sum = error_sum(a.error, b.error);
  return type == DType::boolean ? ir::select(sum > real(0), real(1), real(0)) : sum;
}

BoundedExpr choice(const BoundedExpr& condition, const BoundedExpr& on_true, const BoundedExpr& on_false) {
  BoundedExpr result{ir::select(condition.value, on_true.value, on_false.value)};
  if (condition.is_exact() && on_true.is_exact() && on_false.is_exact()) return result;
  result.scale = {};
  result.error = ir::select(condition.value, or_zero(on_true.error), or_zero(on_false.error));
  if (condition.is_exact()) return result;
  // If a correct kernel may decide otherwise, it may also return the other value.
  const bool is_float = on_true.value.type().is_float();
  const Expr apart = is_float ? magnitude(on_true.value - on_false.value)
                              : magnitude(ir::cast(DType::f64, on_true.value) - ir::cast(DType::f64, on_false.value));
  const Expr larger = error_max(on_true.error, on_false.error);
  result.error = ir::select(condition.error > real(0), larger.defined() ? larger + apart : apart, result.error);
  return result;
}

std::optional<BoundedExpr::Scale> scale_of_product(const BoundedExpr& a, const BoundedExpr& b, DType type) {
  if (!a.scale || !b.scale || a.scale->absolute != 0 || b.scale->absolute != 0) return {};
  const double ra = a.scale->relative, rb = b.scale->relative;
  return BoundedExpr::Scale{ra + rb + ra * rb + unit_roundoff(type), smallest_error(type)};
}

}  // namespace

Expr real(double value) { return ir::constant(ir::Type(DType::f64), value); }

Expr magnitude(const Expr& value) { return ir::call_math(ir::MathFunction::abs, std::vector<Expr>{value}); }

Expr rounded_to(DType type, const Expr& value) { return ir::cast(DType::f64, ir::cast(type, value)); }

Expr shared(const Expr& value, const std::function<Expr(const Expr&)>& body) {
  if (value.kind() == ir::ExprKind::Var || value.kind() == ir::ExprKind::FloatImm) return body(value);
  return ir::let("t", value, body);
}

Expr error_sum(const Expr& a, const Expr& b) { return !a.defined() ? b : !b.defined() ? a : a + b; }
Expr error_max(const Expr& a, const Expr& b) { return !a.defined() ? b : !b.defined() ? a : ir::max(a, b); }

BoundedExpr BoundedExprs::of(const Expr& expr) {
  if (const auto found = done_.find(expr.get()); found != done_.end()) return found->second;
  BoundedExpr result = make(expr);
  kept_.push_back(expr);
  done_.emplace(expr.get(), result);
  return result;
}

BoundedExpr BoundedExprs::make(const Expr& expr) {
  switch (expr.kind()) {
    case ir::ExprKind::IntImm: return {expr};
    case ir::ExprKind::FloatImm: return {real(expr.as<ir::FloatImm>()->value)};
    case ir::ExprKind::Var: return {expr.type().is_float() ? ir::cast(DType::f64, expr) : expr};
    case ir::ExprKind::Cast: return cast(*expr.as<ir::Cast>());
    case ir::ExprKind::Unary: return unary(*expr.as<ir::Unary>());
    case ir::ExprKind::Binary: return binary(*expr.as<ir::Binary>());
    case ir::ExprKind::Select: {
      const auto& node = *expr.as<ir::Select>();
      return choice(of(node.condition), of(node.on_true), of(node.on_false));
    }
    case ir::ExprKind::IfThenElse: {
      const auto& node = *expr.as<ir::IfThenElse>();
      // The side that is not chosen has no value here, so an uncertain condition adds no error.
      const Expr condition = of(node.condition).value;
      const BoundedExpr on_true = of(node.on_true), on_false = of(node.on_false);
      BoundedExpr result{ir::if_then_else(condition, on_true.value, on_false.value)};
      if (on_true.is_exact() && on_false.is_exact()) return result;
      result.scale = {};
      result.error = ir::if_then_else(condition, or_zero(on_true.error), or_zero(on_false.error));
      return result;
    }
    case ir::ExprKind::Load: return load(*expr.as<ir::Load>());
    case ir::ExprKind::Call: return call(*expr.as<ir::Call>());
    case ir::ExprKind::Let: return of_let(*expr.as<ir::Let>());
    default: throw InternalError("reference: an expression that stands only in lowered code");
  }
}

BoundedExpr BoundedExprs::of_let(const ir::Let& node) {
  kept_.push_back(node.var);
  done_[node.var.get()] = of(node.value);
  return of(node.body);
}

BoundedExpr BoundedExprs::load(const ir::Load& node) {
  std::vector<Expr> indices;
  for (const Expr& index : node.indices) indices.push_back(of(index).value);
  const BoundedBuffer& buffer = find_(node.buffer);
  const Expr value = ir::Load::make(buffer.value, indices);
  BoundedExpr result{value.type().is_float() ? ir::cast(DType::f64, value) : value};
  if (buffer.error == nullptr) return result;
  result.error = ir::Load::make(buffer.error, indices);
  result.scale = {};
  return result;
}

BoundedExpr BoundedExprs::unary(const ir::Unary& node) {
  BoundedExpr result = of(node.value);
  result.value = ir::Unary::make(node.op, result.value);
  return result;
}

BoundedExpr BoundedExprs::cast(const ir::Cast& node) {
  const BoundedExpr a = of(node.value);
  const DType from = node.value.type().code, to = node.type.code;
  const bool from_float = is_float(from), to_float = is_float(to);
  BoundedExpr result{to_float ? from_float ? rounded_to(to, a.value) : ir::cast(DType::f64, ir::cast(to, a.value))
                              : ir::cast(to, a.value)};
  Lanes operand(from);
  operand.exact = a.is_exact();
  if (cast_stays_exact(operand, to)) return result;
  result.scale = {};
  if (to_float) {
    const double unit = unit_roundoff(to), least = from_float ? smallest_error(to) : 0;
    const Expr own = magnitude(result.value) * real(unit);
    result.error = error_sum(a.error, least > 0 ? own + real(least) : own);
    if (a.scale) result.scale = BoundedExpr::Scale{a.scale->relative + unit, a.scale->absolute + least};
  } else if (from_float && !a.is_exact()) {
    // The integer on the other side of a rounding boundary is equally right.
    const auto number = [&](const Expr& value) { return ir::cast(DType::f64, ir::cast(to, value)); };
    result.error = shared(a.error, [&](const Expr& error) {
      const Expr here = number(a.value);
      return ir::max(magnitude(number(a.value + error) - here), magnitude(here - number(a.value - error)));
    });
  } else {
    result.error = a.error;
  }
  return result;
}

BoundedExpr BoundedExprs::binary(const ir::Binary& node) {
  const BoundedExpr a = of(node.left), b = of(node.right);
  const DType operands = node.left.type().code, type = node.type.code;
  const Expr computed = ir::Binary::make(node.op, a.value, b.value);
  if (!is_float(operands)) {
    const Expr error = integer_error(node.op, type, a, b);
    return {computed, error, error.defined() ? std::nullopt : std::optional(BoundedExpr::Scale{})};
  }
  if (ir::is_comparison(node.op)) {
    const Expr error = comparison_error(a, b);
    return {computed, error, error.defined() ? std::nullopt : std::optional(BoundedExpr::Scale{})};
  }
  const bool rounds = node.op != ir::BinaryOp::min && node.op != ir::BinaryOp::max;
  BoundedExpr result{rounds ? rounded_result(type, computed) : computed};
  const Expr carried = carried_error(node.op, a, b, result.value);
  if (!rounds && !carried.defined()) return result;
  result.error = rounds ? with_rounding(carried, type, result.value) : carried;
  if (may_stay_infinite(node.op))
    result.error = ir::select(stays_infinite(node.op, a, b, result.value), real(0), result.error);
  result.scale = {};
  if (node.op == ir::BinaryOp::mul)
    result.scale = scale_of_product(a, b, type);
  else if (rounds && a.is_exact() && b.is_exact())
    result.scale = BoundedExpr::Scale{unit_roundoff(type), smallest_error(type)};
  return result;
}

BoundedExpr BoundedExprs::call(const ir::Call& node) {
  if (context_ != nullptr && passes::lowers(*context_, node.callee)) {
    // The rule for the generic target defines the meaning of the name.
    const Expr definition = passes::lower(*context_, node, Target());
    const auto* same = definition.as<ir::Call>();
    if (same == nullptr || same->callee != node.callee) return of(definition);
  }
  if (node.callee.op == ir::CallOp::bitcast) return bitcast(node);
  if (node.callee.op == ir::CallOp::math) {
    if (node.type.is_float()) return math(node.callee.math, node.type.code, node);
    BoundedExpr result = of(node.arguments[0]);
    result.value = ir::Call::make(node.type, node.callee, {result.value});
    return result;
  }
  if (node.callee.op == ir::CallOp::external) {
    const auto known = ir::find_c_math(node.callee.name, node.type.code);
    if (known && node.type.is_float() && !node.arguments.empty()) return math(*known, node.type.code, node);
  }
  throw CompileError("it calls '" + to_text(node.callee) + "'");
}

BoundedExpr BoundedExprs::math(ir::MathFunction function, DType type, const ir::Call& node) {
  std::vector<BoundedExpr> arguments;
  for (const Expr& argument : node.arguments) arguments.push_back(of(argument));
  const auto at = [&](unsigned moves) {
    std::vector<Expr> moved;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const BoundedExpr& x = arguments[i];
      moved.push_back(x.is_exact() ? x.value : (moves >> i & 1) != 0 ? x.value + x.error : x.value - x.error);
    }
    return ir::call_math(function, moved);
  };
  std::vector<Expr> values;
  for (const BoundedExpr& argument : arguments) values.push_back(argument.value);
  const Expr unrounded = ir::call_math(function, values);
  BoundedExpr result{rounded_result(type, unrounded)};
  Expr carried;
  unsigned inexact = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) inexact |= arguments[i].is_exact() ? 0 : 1u << i;
  // The function's values at the ends of the arguments' error intervals.
  for (unsigned moves = 0; inexact != 0 && moves < 1u << arguments.size(); ++moves)
    if ((moves & ~inexact) == 0) carried = error_max(carried, magnitude(at(moves) - unrounded));
  // Kernels may be off by 4 ulp, that is, 8 half ulps.
  result.error = with_rounding(carried, type, result.value, 8);
  result.scale = {};
  if (inexact == 0) result.scale = BoundedExpr::Scale{8 * unit_roundoff(type), smallest_error(type)};
  return result;
}

BoundedExpr BoundedExprs::bitcast(const ir::Call& node) {
  const DType from = node.arguments[0].type().code, to = node.type.code;
  const BoundedExpr a = of(node.arguments[0]);
  const Expr bits = ir::Call::make(node.type, node.callee, {is_float(from) ? ir::cast(from, a.value) : a.value});
  BoundedExpr result{is_float(to) ? ir::cast(DType::f64, bits) : bits};
  const Expr* rounded = rounded_by_addition(node);
  if (rounded == nullptr) return result;
  const BoundedExpr x = of(*rounded);
  if (x.is_exact()) return result;
  const auto nearest = [](const Expr& value) {
    return ir::call_math(ir::MathFunction::round_even, std::vector<Expr>{value});
  };
  result.error = ir::max(magnitude(nearest(x.value + x.error) - nearest(x.value)),
                         magnitude(nearest(x.value) - nearest(x.value - x.error)));
  result.scale = {};
  return result;
}

}  // namespace ferry::lang
