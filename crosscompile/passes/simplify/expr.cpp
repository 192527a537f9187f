// Simplifies expressions other than index arithmetic.
#include "crosscompile/passes/simplify/rules.h"

#include "crosscompile/ir/substitute.h"

#include <cmath>

namespace ferry::passes::simplifier {

using namespace ir;

namespace {

bool is_index(Type type) { return type.element() == kIndex; }

const double* as_float(const Expr& expr) {
  const auto* broadcast = expr.as<Broadcast>();
  const auto* number = broadcast != nullptr ? broadcast->value.as<FloatImm>() : expr.as<FloatImm>();
  return number == nullptr ? nullptr : &number->value;
}

bool is_number(const Expr& expr) { return as_int(expr) != nullptr || as_float(expr) != nullptr; }

bool is_float(const Expr& expr, double value) {
  const double* known = as_float(expr);
  return known != nullptr && *known == value && std::signbit(*known) == std::signbit(value);
}

// Applies the operation through the operators, which fold constants.
Expr folded(BinaryOp op, const Expr& left, const Expr& right) {
  switch (op) {
    case BinaryOp::add: return left + right;
    case BinaryOp::sub: return left - right;
    case BinaryOp::mul: return left * right;
    case BinaryOp::div: return left / right;
    case BinaryOp::mod: return left % right;
    case BinaryOp::min: return min(left, right);
    case BinaryOp::max: return max(left, right);
    case BinaryOp::bit_and: return left & right;
    case BinaryOp::bit_or: return left | right;
    case BinaryOp::bit_xor: return left ^ right;
    case BinaryOp::shl: return left << right;
    case BinaryOp::shr: return left >> right;
    case BinaryOp::eq: return left == right;
    case BinaryOp::ne: return left != right;
    case BinaryOp::lt: return left < right;
    case BinaryOp::le: return left <= right;
    case BinaryOp::gt: return left > right;
    case BinaryOp::ge: return left >= right;
    case BinaryOp::logical_and: return left && right;
    case BinaryOp::logical_or: return left || right;
  }
  return {};
}

// Drops identities that are exact in floats: those that preserve every value, zeros with their signs.
Expr drop_float_identity(BinaryOp op, const Expr& left, const Expr& right) {
  switch (op) {
    case BinaryOp::add:
      if (is_float(right, -0.0)) return left;
      return is_float(left, -0.0) ? right : Expr();
    case BinaryOp::sub: return is_float(right, 0.0) ? left : Expr();
    case BinaryOp::mul:
      if (is_float(right, 1.0)) return left;
      return is_float(left, 1.0) ? right : Expr();
    case BinaryOp::div: return is_float(right, 1.0) ? left : Expr();
    default: return {};
  }
}

// Drops identities of integers of any type, which hold for wrapping arithmetic too.
Expr drop_int_identity(BinaryOp op, const Expr& left, const Expr& right) {
  const Type type = left.type();
  const auto number = [&](std::int64_t value) { return constant(type, value); };
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
      if (is_constant(left, 0)) return right;
      return is_constant(right, 0) ? left : Expr();
    case BinaryOp::sub:
    case BinaryOp::shl:
    case BinaryOp::shr: return is_constant(right, 0) ? left : Expr();
    case BinaryOp::mul:
      if (is_constant(left, 0) || is_constant(right, 0)) return number(0);
      if (is_constant(left, 1)) return right;
      return is_constant(right, 1) ? left : Expr();
    case BinaryOp::bit_and: return is_constant(left, 0) || is_constant(right, 0) ? number(0) : Expr();
    case BinaryOp::div:
      if (is_constant(left, 0) || is_constant(right, 0)) return number(0);
      return is_constant(right, 1) ? left : Expr();
    case BinaryOp::mod:
      return is_constant(left, 0) || is_constant(right, 0) || is_constant(right, 1) ? number(0) : Expr();
    default: return {};
  }
}

// Collects the operands of a && b && c.
void collect(const Expr& expr, BinaryOp op, std::vector<Expr>& parts) {
  const auto* binary = expr.as<Binary>();
  if (binary == nullptr || binary->op != op) return parts.push_back(expr);
  collect(binary->left, op, parts);
  collect(binary->right, op, parts);
}

bool same_value(const Expr& left, const Expr& right) { return !touches_memory(left) && equal(left, right); }

}  // namespace

Expr ExprSimplifier::mutate_node(const Var& node, const Expr& self) {
  if (node.type == kBool) {
    const std::optional<bool> truth = facts.known(self);
    return truth ? constant(kBool, std::int64_t{*truth}) : self;
  }
  if (node.type != kIndex) return self;
  const Interval range = facts.value_range(facts.atoms.polynomial(self));
  return range.is_point() && range.fits_64_bits() ? Expr(static_cast<std::int64_t>(range.lo)) : self;
}

Expr ExprSimplifier::mutate_node(const Cast& node, const Expr& self) {
  const Expr value = mutate(node.value);
  if (is_number(value)) return cast(node.type.code, value);
  // A cast to another type and back.
  if (const auto* inner = value.as<Cast>(); inner != nullptr && is_index(inner->value.type()) && is_index(node.type)) {
    const Interval range = facts.value_range(facts.atoms.polynomial(inner->value));
    if (inner->type.is_int() && intersection(range, Interval::of(inner->type.code)).lo == range.lo &&
        intersection(range, Interval::of(inner->type.code)).hi == range.hi) {
      return inner->value;
    }
  }
  return value.same_as(node.value) ? self : Cast::make(node.type.code, value);
}

Expr ExprSimplifier::mutate_node(const Unary& node, const Expr& self) {
  if (node.op == UnaryOp::neg && is_index(node.type)) return linear(self);
  const Expr value = mutate(node.value);
  if (const auto* inner = value.as<Unary>(); inner != nullptr && inner->op == node.op) return inner->value;
  if (is_number(value)) {
    switch (node.op) {
      case UnaryOp::neg: return -value;
      case UnaryOp::bit_not: return ~value;
      case UnaryOp::logical_not: return !value;
    }
  }
  if (const auto* inner = value.as<Binary>(); node.op == UnaryOp::logical_not && inner != nullptr) {
    // Because of NaN, !(a < b) is not a >= b for floats; but != is the opposite of == for floats too.
    const bool has_opposite = is_comparison(inner->op) && (!inner->left.type().is_float() ||
                                                           inner->op == BinaryOp::eq || inner->op == BinaryOp::ne);
    if (has_opposite) return Binary::make(opposite(inner->op), inner->left, inner->right);
  }
  return value.same_as(node.value) ? self : Unary::make(node.op, value);
}

Expr ExprSimplifier::mutate_node(const Binary& node, const Expr& self) {
  if (node.op == BinaryOp::logical_and || node.op == BinaryOp::logical_or) return logic(node, self);
  if (is_comparison(node.op)) {
    const Expr left = mutate(node.left);
    const Expr right = mutate(node.right);
    const bool unchanged = left.same_as(node.left) && right.same_as(node.right);
    return comparison(node.op, left, right, unchanged ? self : Binary::make(node.op, left, right));
  }
  if (!is_index(node.type)) return data_operation(node, self);
  if (node.op == BinaryOp::add || node.op == BinaryOp::sub || node.op == BinaryOp::mul) return linear(self);
  const Expr left = mutate(node.left);
  const Expr right = mutate(node.right);
  const bool same = left.same_as(node.left) && right.same_as(node.right);
  const Expr unchanged = same ? self : Binary::make(node.op, left, right);
  switch (node.op) {
    case BinaryOp::div: return quotient(left, right, unchanged);
    case BinaryOp::mod: return remainder(left, right, unchanged);
    case BinaryOp::min:
    case BinaryOp::max: return extremum(node.op, left, right, unchanged);
    default: break;
  }
  if (is_number(left) && is_number(right)) return folded(node.op, left, right);
  Expr shorter = drop_int_identity(node.op, left, right);
  return shorter.defined() ? shorter : unchanged;
}

// Simplifies operations on integers that are not indices, on floats, and on the bits of bool.
Expr ExprSimplifier::data_operation(const Binary& node, const Expr& self) {
  Expr left = mutate(node.left);
  const Expr right = mutate(node.right);
  if (is_number(left) && is_number(right)) return folded(node.op, left, right);
  const Type type = node.type;
  if (type.is_float()) {
    Expr shorter = drop_float_identity(node.op, left, right);
    if (shorter.defined()) return shorter;
  } else if (type.is_int()) {
    Expr shorter = drop_int_identity(node.op, left, right);
    if (shorter.defined()) return shorter;
    if (node.op == BinaryOp::sub && same_value(left, right)) return constant(type, std::int64_t{0});
    const bool extremum = node.op == BinaryOp::min || node.op == BinaryOp::max;
    if (extremum && same_value(left, right)) return left;
    // (x + 1) + 2: a wrapping sum may be regrouped.
    const auto* inner = left.as<Binary>();
    if (node.op == BinaryOp::add && inner != nullptr && inner->op == BinaryOp::add && is_number(right) &&
        is_number(inner->right)) {
      return inner->left + (inner->right + right);
    }
  }
  return left.same_as(node.left) && right.same_as(node.right) ? self : Binary::make(node.op, left, right);
}

Expr ExprSimplifier::comparison(BinaryOp op, const Expr& left, const Expr& right, const Expr& unchanged) {
  if (is_number(left) && is_number(right)) return folded(op, left, right);
  if (is_index(left.type())) {
    if (const std::optional<bool> truth = facts.known(unchanged))
      return constant(unchanged.type(), std::int64_t{*truth});
    return index_comparison(op, left, right, unchanged);
  }
  if (const std::optional<bool> truth = facts.known(unchanged)) return constant(unchanged.type(), std::int64_t{*truth});
  if (!left.type().is_float() && same_value(left, right)) {
    const bool holds = op == BinaryOp::eq || op == BinaryOp::le || op == BinaryOp::ge;
    return constant(unchanged.type(), std::int64_t{holds});
  }
  return unchanged;
}

bool ExprSimplifier::implied(const Expr& condition, bool truth) {
  const auto* binary = condition.as<Binary>();
  if (binary == nullptr || !is_comparison(binary->op) || binary->left.type() != kIndex) return false;
  const Polynomial left = facts.atoms.polynomial(binary->left);
  const Polynomial right = facts.atoms.polynomial(binary->right);
  return proves(truth ? binary->op : opposite(binary->op), left, right);
}

Expr ExprSimplifier::logic(const Binary& node, const Expr& self) {
  const BinaryOp op = node.op;
  const bool conjunction = op == BinaryOp::logical_and;
  std::vector<Expr> before;
  collect(self, op, before);
  std::vector<Expr> parts = before;
  // All parts are evaluated whatever the others are, so an index in one of them must be valid without their guard.
  for (Expr& part : parts) {
    if (touches_memory(part)) part = mutate(part);
  }
  // Each remaining part is simplified under those before it, and dropped if those after it imply it.
  {
    const Facts::Scope scope(facts);
    for (Expr& part : parts) {
      if (!touches_memory(part)) part = mutate(part);
      facts.assume(part, conjunction);
    }
  }
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const Facts::Scope scope(facts);
    for (std::size_t later = i + 1; later < parts.size(); ++later) facts.assume(parts[later], conjunction);
    if (implied(parts[i], conjunction)) parts[i] = constant(node.type, std::int64_t{conjunction});
  }
  Expr result;
  bool changed = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    changed |= !parts[i].same_as(before[i]);
    result = !result.defined() ? parts[i] : conjunction ? result && parts[i] : result || parts[i];
  }
  return changed ? result : self;
}

Expr ExprSimplifier::mutate_node(const Select& node, const Expr& self) {
  const Expr condition = mutate(node.condition);
  if (const std::int64_t* known = as_int(condition)) return mutate(*known != 0 ? node.on_true : node.on_false);
  // Both values are computed, so an index in one of them must not lose its own guards because the condition holds.
  const auto branch = [&](const Expr& value, bool truth) {
    return touches_memory(value) ? mutate(value) : mutate_given(value, condition, truth);
  };
  Expr on_true = branch(node.on_true, true);
  const Expr on_false = branch(node.on_false, false);
  if (equal(on_true, on_false)) return on_true;
  if (condition.same_as(node.condition) && on_true.same_as(node.on_true) && on_false.same_as(node.on_false))
    return self;
  return Select::make(condition, on_true, on_false);
}

Expr ExprSimplifier::mutate_node(const IfThenElse& node, const Expr& self) {
  const Expr condition = mutate(node.condition);
  if (const std::int64_t* known = as_int(condition)) return mutate(*known != 0 ? node.on_true : node.on_false);
  Expr on_true = mutate_given(node.on_true, condition, true);
  const Expr on_false = mutate_given(node.on_false, condition, false);
  if (same_value(on_true, on_false)) return on_true;
  if (condition.same_as(node.condition) && on_true.same_as(node.on_true) && on_false.same_as(node.on_false))
    return self;
  return IfThenElse::make(condition, on_true, on_false);
}

Expr ExprSimplifier::mutate_node(const Load& node, const Expr& self) {
  Expr loaded = Mutator::mutate_node(node, self);
  const auto* load = loaded.as<Load>();
  if (!load->mask.defined()) return loaded;
  if (is_constant(load->mask, 0)) return constant(node.type, std::int64_t{0});
  return is_constant(load->mask, 1) ? Load::make(load->buffer, load->indices) : loaded;
}

Expr ExprSimplifier::mutate_node(const Reduce& node, const Expr& self) {
  const Facts::Scope scope(facts);
  for (const Axis& axis : node.axes) facts.enter_loop(axis.var, axis.min, axis.extent);
  return Mutator::mutate_node(node, self);
}

Expr ExprSimplifier::mutate_node(const Let& node, const Expr& self) {
  const Expr value = mutate(node.value);
  if (is_number(value) || value.kind() == ExprKind::Var)
    return mutate(substitute(node.body, {{node.var.get(), value}}));
  const Facts::Scope scope(facts);
  facts.define(node.var, value);
  Expr body = mutate(node.body);
  if (!touches_memory(value) && !uses_var(body, node.var)) return body;
  return value.same_as(node.value) && body.same_as(node.body) ? self : Let::make(node.var, value, body);
}

Expr ExprSimplifier::mutate_node(const Ramp& node, const Expr& self) {
  return is_index(node.type) ? linear(self) : Mutator::mutate_node(node, self);
}

Expr ExprSimplifier::mutate_node(const Broadcast& node, const Expr& self) { return Mutator::mutate_node(node, self); }

Expr ExprSimplifier::mutate_node(const VectorReduce& node, const Expr& self) {
  const Expr value = mutate(node.value);
  if (const auto* broadcast = value.as<Broadcast>()) {
    switch (node.op) {
      case ReduceOp::min:
      case ReduceOp::max:
      case ReduceOp::any:
      case ReduceOp::all: return broadcast->value;
      case ReduceOp::sum:
        if (node.type.is_int()) return broadcast->value * constant(node.type, std::int64_t{value.type().lanes});
        break;
      case ReduceOp::prod:
      case ReduceOp::user: break;
    }
  }
  return value.same_as(node.value) ? self : VectorReduce::make(node.op, value);
}

}  // namespace ferry::passes::simplifier
