#include "ferry/operators.h"

#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/common_lanes.h"
#include "crosscompile/ir/error.h"

#include <algorithm>
#include <string_view>

namespace ferry::ir {
namespace {

const char* text_of(BinaryOp op) {
  switch (op) {
#define FERRY_CASE(name, text) \
  case BinaryOp::name: return text;
    FERRY_IR_BINARY_OPS(FERRY_CASE)
#undef FERRY_CASE
  }
  return "?";
}

const IntImm* int_constant(const Expr& expr) {
  if (const auto* broadcast = expr.as<Broadcast>()) return broadcast->value.as<IntImm>();
  return expr.as<IntImm>();
}

const FloatImm* float_constant(const Expr& expr) {
  if (const auto* broadcast = expr.as<Broadcast>()) return broadcast->value.as<FloatImm>();
  return expr.as<FloatImm>();
}

void require_defined(const Expr& expr) {
  if (!expr.defined()) throw InternalError("an operand is missing");
}

struct Operands {
  Expr left, right;
};

Operands unify(const ExprOrLiteral& left, const ExprOrLiteral& right) {
  require_defined(left.expr());
  require_defined(right.expr());
  if (left.type() == right.type()) return {left.expr(), right.expr()};
  std::vector<Expr> both = ir::unify({left, right});
  return {std::move(both[0]), std::move(both[1])};
}

// Folds the operation on two constants.
Expr fold(BinaryOp op, const Expr& left, const Expr& right) {
  const Type type = left.type();
  const Type result = is_comparison(op) ? kBool : type.element();
  if (const IntImm* a = int_constant(left)) {
    const IntImm* b = int_constant(right);
    return b == nullptr ? Expr()
                        : constant(result.with_lanes(type.lanes), apply_int(op, type.code, a->value, b->value));
  }
  const FloatImm* a = float_constant(left);
  const FloatImm* b = float_constant(right);
  if (a == nullptr || b == nullptr) return {};
  if (is_comparison(op)) {
    return constant(kBool.with_lanes(type.lanes), std::int64_t{compare_float(op, a->value, b->value)});
  }
  return constant(type, apply_float(op, type.code, a->value, b->value));
}

// Simplifies x + 0 and the like; exact, and for integers only.
Expr drop_identity(BinaryOp op, const Expr& left, const Expr& right) {
  if (left.type().is_float()) return {};
  switch (op) {
    case BinaryOp::add:
      if (is_constant(left, 0)) return right;
      return is_constant(right, 0) ? left : Expr();
    case BinaryOp::sub: return is_constant(right, 0) ? left : Expr();
    case BinaryOp::mul:
      if (is_constant(left, 1)) return right;
      return is_constant(right, 1) ? left : Expr();
    case BinaryOp::div: return is_constant(right, 1) ? left : Expr();
    case BinaryOp::logical_and:
      if (as_int(left) != nullptr) return is_constant(left, 1) ? right : left;
      if (as_int(right) != nullptr) return is_constant(right, 1) ? left : right;
      return {};
    case BinaryOp::logical_or:
      if (as_int(left) != nullptr) return is_constant(left, 0) ? right : left;
      if (as_int(right) != nullptr) return is_constant(right, 0) ? left : right;
      return {};
    default: return {};
  }
}

Expr finish(BinaryOp op, const Expr& left, const Expr& right) {
  if (Expr folded = fold(op, left, right); folded.defined()) return folded;
  if (Expr shorter = drop_identity(op, left, right); shorter.defined()) return shorter;
  return Binary::make(op, left, right);
}

[[noreturn]] void refuse(BinaryOp op, const char* expected, Type got) {
  throw CompileError("'" + std::string(text_of(op)) + "': expected " + expected + ", got " + to_text(got));
}

// Takes the sign of the divisor, as integer modulo does, whereas fmod has the sign of the dividend. NaN for a divisor
// of 0.
Expr float_modulo(const Expr& left, const Expr& right) {
  const Expr rest = call_math(MathFunction::fmod, {left, right});
  return select(rest != 0 && (rest < 0) != (right < 0), rest + right, rest);
}

Expr arithmetic(BinaryOp op, const ExprOrLiteral& left, const ExprOrLiteral& right) {
  const Operands operands = unify(left, right);
  if (operands.left.type().is_bool()) refuse(op, "numbers", operands.left.type());
  if (op == BinaryOp::mod && operands.left.type().is_float()) return float_modulo(operands.left, operands.right);
  return finish(op, operands.left, operands.right);
}

Expr compare(BinaryOp op, const ExprOrLiteral& left, const ExprOrLiteral& right) {
  const Operands operands = unify(left, right);
  const bool ordered = op != BinaryOp::eq && op != BinaryOp::ne;
  if (ordered && operands.left.type().is_bool()) refuse(op, "numbers", operands.left.type());
  return finish(op, operands.left, operands.right);
}

Expr bitwise(BinaryOp op, const ExprOrLiteral& left, const ExprOrLiteral& right) {
  const Operands operands = unify(left, right);
  if (operands.left.type().is_float()) refuse(op, "integers or bool", operands.left.type());
  return finish(op, operands.left, operands.right);
}

Expr shift(BinaryOp op, const ExprOrLiteral& value_operand, const ExprOrLiteral& count_operand) {
  Expr value = value_operand.expr(), count = count_operand.expr();
  require_defined(value);
  require_defined(count);
  if (!value.type().is_int()) refuse(op, "integers", value.type());
  if (!count.type().is_int()) refuse(op, "integers", count.type());
  if (value_operand.is_literal() && !count_operand.is_literal()) value = value_operand.as(count.type().code);
  const std::uint32_t lanes = common_lanes(value.type(), count.type());
  count = widen(count, lanes);
  value = widen(value, lanes);
  // A count too large for the type must not wrap around to a small one.
  const DType code = value.type().code;
  const std::int64_t bits = value.type().bits();
  if (const IntImm* constant_count = int_constant(count)) {
    const bool in_range = constant_count->value >= 0 && constant_count->value < bits;
    return finish(op, value, constant(Type(code, lanes), in_range ? constant_count->value : bits));
  }
  const Type from = count.type();
  if (from.bits() > bits || (from.bits() == bits && from.is_unsigned_int() != value.type().is_unsigned_int())) {
    const Expr bad = count < 0 || count >= bits;
    return finish(op, value, cast(code, select(bad, bits, count)));
  }
  return finish(op, value, cast(code, count));
}

Expr logical(BinaryOp op, const Expr& left, const Expr& right) {
  require_defined(left);
  require_defined(right);
  if (!left.type().is_bool()) refuse(op, "bool", left.type());
  if (!right.type().is_bool()) refuse(op, "bool", right.type());
  const std::uint32_t lanes = common_lanes(left.type(), right.type());
  return finish(op, widen(left, lanes), widen(right, lanes));
}

struct Choice {
  Expr condition, on_true, on_false;
};

Choice choice(const char* what, const Expr& condition, const ExprOrLiteral& on_true, const ExprOrLiteral& on_false) {
  require_defined(condition);
  if (!condition.type().is_bool()) {
    throw CompileError(std::string(what) + ": expected a bool condition, got " + to_text(condition.type()));
  }
  const Operands values = unify(on_true, on_false);
  const std::uint32_t lanes = common_lanes(condition.type(), values.left.type());
  return {widen(condition, lanes), widen(values.left, lanes), widen(values.right, lanes)};
}

}  // namespace

Expr operator+(const ExprOrLiteral& left, const ExprOrLiteral& right) { return arithmetic(BinaryOp::add, left, right); }
Expr operator-(const ExprOrLiteral& left, const ExprOrLiteral& right) { return arithmetic(BinaryOp::sub, left, right); }
Expr operator*(const ExprOrLiteral& left, const ExprOrLiteral& right) { return arithmetic(BinaryOp::mul, left, right); }
Expr operator/(const ExprOrLiteral& left, const ExprOrLiteral& right) { return arithmetic(BinaryOp::div, left, right); }
Expr operator%(const ExprOrLiteral& left, const ExprOrLiteral& right) { return arithmetic(BinaryOp::mod, left, right); }
Expr operator&(const ExprOrLiteral& left, const ExprOrLiteral& right) {
  return bitwise(BinaryOp::bit_and, left, right);
}
Expr operator|(const ExprOrLiteral& left, const ExprOrLiteral& right) { return bitwise(BinaryOp::bit_or, left, right); }
Expr operator^(const ExprOrLiteral& left, const ExprOrLiteral& right) {
  return bitwise(BinaryOp::bit_xor, left, right);
}
Expr operator<<(const ExprOrLiteral& left, const ExprOrLiteral& right) { return shift(BinaryOp::shl, left, right); }
Expr operator>>(const ExprOrLiteral& left, const ExprOrLiteral& right) { return shift(BinaryOp::shr, left, right); }
Expr operator==(const ExprOrLiteral& left, const ExprOrLiteral& right) { return compare(BinaryOp::eq, left, right); }
Expr operator!=(const ExprOrLiteral& left, const ExprOrLiteral& right) { return compare(BinaryOp::ne, left, right); }
Expr operator<(const ExprOrLiteral& left, const ExprOrLiteral& right) { return compare(BinaryOp::lt, left, right); }
Expr operator<=(const ExprOrLiteral& left, const ExprOrLiteral& right) { return compare(BinaryOp::le, left, right); }
Expr operator>(const ExprOrLiteral& left, const ExprOrLiteral& right) { return compare(BinaryOp::gt, left, right); }
Expr operator>=(const ExprOrLiteral& left, const ExprOrLiteral& right) { return compare(BinaryOp::ge, left, right); }
Expr operator&&(Expr left, Expr right) { return logical(BinaryOp::logical_and, left, right); }
Expr operator||(Expr left, Expr right) { return logical(BinaryOp::logical_or, left, right); }
Expr min(const ExprOrLiteral& left, const ExprOrLiteral& right) { return arithmetic(BinaryOp::min, left, right); }
Expr max(const ExprOrLiteral& left, const ExprOrLiteral& right) { return arithmetic(BinaryOp::max, left, right); }

Expr operator-(Expr value) {
  require_defined(value);
  if (value.type().is_bool()) throw CompileError("'-': expected a number, got " + to_text(value.type()));
  if (const IntImm* integer = int_constant(value)) {
    return constant(value.type(), apply_int(BinaryOp::sub, value.type().code, 0, integer->value));
  }
  if (const FloatImm* number = float_constant(value)) return constant(value.type(), -number->value);
  return Unary::make(UnaryOp::neg, value);
}

Expr operator~(Expr value) {
  require_defined(value);
  if (!value.type().is_int()) throw CompileError("'~': expected an integer, got " + to_text(value.type()));
  if (const IntImm* integer = int_constant(value)) return constant(value.type(), ~integer->value);
  return Unary::make(UnaryOp::bit_not, value);
}

Expr logical_not(const Expr& value) {
  require_defined(value);
  if (!value.type().is_bool()) throw CompileError("'!': expected bool, got " + to_text(value.type()));
  if (const IntImm* integer = int_constant(value)) return constant(value.type(), std::int64_t{integer->value == 0});
  return Unary::make(UnaryOp::logical_not, value);
}

Expr select(Expr condition, const ExprOrLiteral& on_true, const ExprOrLiteral& on_false) {
  const Choice parts = choice("select", condition, on_true, on_false);
  if (const std::int64_t* known = as_int(parts.condition)) return *known != 0 ? parts.on_true : parts.on_false;
  return Select::make(parts.condition, parts.on_true, parts.on_false);
}

Expr if_then_else(Expr condition, const ExprOrLiteral& on_true, const ExprOrLiteral& on_false) {
  const Choice parts = choice("if_then_else", condition, on_true, on_false);
  if (const std::int64_t* known = as_int(parts.condition)) return *known != 0 ? parts.on_true : parts.on_false;
  return IfThenElse::make(parts.condition, parts.on_true, parts.on_false);
}

Expr cast(DType to, Expr value) {
  require_defined(value);
  const Type type(to, value.type().lanes);
  if (type == value.type()) return value;
  if (const IntImm* integer = int_constant(value)) {
    if (type.is_float()) return constant(type, int_to_float(value.type().code, integer->value, to));
    return constant(type, integer->value);
  }
  if (const FloatImm* number = float_constant(value)) {
    if (type.is_float()) return constant(type, number->value);
    return constant(type, float_to_int(number->value, to));
  }
  return Cast::make(to, value);
}

Expr call_math(MathFunction function, const std::vector<ExprOrLiteral>& given) {
  const MathSignature& signature = signature_of(function);
  const std::string quoted = "'" + std::string(signature.name) + "'";
  if (given.size() != signature.arguments) {
    throw CompileError(quoted + ": expected " + std::to_string(signature.arguments) + " argument" +
                       (signature.arguments == 1 ? "" : "s") + ", got " + std::to_string(given.size()));
  }
  const bool only_integers = signature.kind == MathKind::integer;
  for (const ExprOrLiteral& argument : given) {
    require_defined(argument.expr());
    if (argument.type().is_bool() || (only_integers && argument.type().is_float())) {
      throw CompileError(quoted + ": expected " + (only_integers ? "an integer" : "a number") + ", got " +
                         to_text(argument.type()));
    }
  }
  // All arguments get one type, by the rules of the operators; then f32 replaces an integer type where a float is
  // required.
  std::vector<Expr> arguments = unify(given);
  for (Expr& argument : arguments) {
    if (signature.kind == MathKind::float_only && argument.type().is_int()) argument = cast(DType::f32, argument);
  }
  const Type type = arguments[0].type();
  if (function == MathFunction::abs) {
    if (type.is_unsigned_int()) return arguments[0];
    if (const IntImm* integer = int_constant(arguments[0])) return integer->value < 0 ? -arguments[0] : arguments[0];
    if (const FloatImm* number = float_constant(arguments[0])) return constant(type, std::fabs(number->value));
  }
  return Call::make(type, function, std::move(arguments));
}

Expr call_math(const std::string& name, const std::vector<ExprOrLiteral>& given) {
  const std::optional<MathFunction> function = find_math(name);
  if (!function) throw CompileError("expected the name of a math function, got '" + name + "'");
  return call_math(*function, given);
}

Expr ceil_div(const ExprOrLiteral& left, const ExprOrLiteral& right) { return (left + right - 1) / right; }

Expr constant(Type type, double value) {
  if (!type.is_float()) return constant(type, float_to_int(value, type.code));
  return Broadcast::make(FloatImm::make(type.element(), value), type.lanes);
}

Expr call_external(Type type, std::string name, std::vector<Expr> arguments) {
  return Call::make(type, Callee::external(std::move(name)), std::move(arguments));
}

Expr let(std::string name, Expr value, const std::function<Expr(const Expr&)>& body) {
  const Expr x = Var::make(std::move(name), value.type());
  return Let::make(x, std::move(value), body(x));
}

Expr constant(Type type, std::int64_t value) {
  if (type.is_float()) return constant(type, int_to_float(DType::i64, value, type.code));
  return Broadcast::make(IntImm::make(type.element(), value), type.lanes);
}

bool is_constant(const Expr& expr, std::int64_t value) {
  const std::int64_t* known = as_int(expr);
  return known != nullptr && *known == value;
}

const std::int64_t* as_int(const Expr& expr) {
  const IntImm* integer = expr.defined() ? int_constant(expr) : nullptr;
  return integer == nullptr ? nullptr : &integer->value;
}

}  // namespace ferry::ir
