#include "crosscompile/ir/operators.h"

#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/error.h"

#include <algorithm>
#include <optional>
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

bool is_literal(const Expr& expr) { return int_constant(expr) != nullptr || float_constant(expr) != nullptr; }

std::uint32_t common_lanes(Type left, Type right) {
  if (left.lanes != right.lanes && left.is_vector() && right.is_vector()) {
    throw InternalError("operands of " + to_text(left) + " and " + to_text(right) + " differ in lanes");
  }
  return std::max(left.lanes, right.lanes);
}

Expr widen(const Expr& expr, std::uint32_t lanes) {
  return expr.type().lanes == lanes ? expr : Broadcast::make(expr, lanes);
}

// The constant in the type, when the language lets it take that type silently.
std::optional<Expr> adapt(const Expr& expr, DType to) {
  const Type wanted(to, expr.type().lanes);
  if (wanted.is_bool() || expr.type().is_bool()) return std::nullopt;
  if (const IntImm* constant = int_constant(expr)) {
    if (!wanted.is_float()) {
      const bool sign_survives = wanted.is_unsigned_int() == expr.type().is_unsigned_int() || constant->value >= 0;
      if (wrap(to, constant->value) != constant->value || !sign_survives) {
        throw CompileError("expected a constant that fits " + std::string(dtype_name(to)) + ", got " +
                           std::to_string(constant->value) + "; cast the other side to a wider type");
      }
    }
    return cast(to, expr);
  }
  if (float_constant(expr) != nullptr && wanted.is_float()) return cast(to, expr);
  return std::nullopt;
}

void require_defined(const Expr& expr) {
  if (!expr.defined()) throw InternalError("an operand is missing");
}

struct Operands {
  Expr left, right;
};

Operands unify(const Expr& left, const Expr& right) {
  require_defined(left);
  require_defined(right);
  Operands out{left, right};
  if (left.type().code != right.type().code) {
    std::optional<Expr> adapted;
    if (is_literal(right) && !is_literal(left) && (adapted = adapt(right, left.type().code))) {
      out.right = *adapted;
    } else if (is_literal(left) && !is_literal(right) && (adapted = adapt(left, right.type().code))) {
      out.left = *adapted;
    } else {
      const DType code = common_type(left.type().element(), right.type().element()).code;
      out = {cast(code, left), cast(code, right)};
    }
  }
  const std::uint32_t lanes = common_lanes(left.type(), right.type());
  return {widen(out.left, lanes), widen(out.right, lanes)};
}

// The folded operation on two constants.
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

// x + 0 and the like; exact, and integers only.
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

Expr arithmetic(BinaryOp op, const Expr& left, const Expr& right) {
  const Operands operands = unify(left, right);
  if (operands.left.type().is_bool()) refuse(op, "numbers", operands.left.type());
  if (op == BinaryOp::mod && operands.left.type().is_float())
    refuse(op, "integers (floats have fmod)", operands.left.type());
  return finish(op, operands.left, operands.right);
}

Expr compare(BinaryOp op, const Expr& left, const Expr& right) {
  const Operands operands = unify(left, right);
  const bool ordered = op != BinaryOp::eq && op != BinaryOp::ne;
  if (ordered && operands.left.type().is_bool()) refuse(op, "numbers", operands.left.type());
  return finish(op, operands.left, operands.right);
}

Expr bitwise(BinaryOp op, const Expr& left, const Expr& right) {
  const Operands operands = unify(left, right);
  if (operands.left.type().is_float()) refuse(op, "integers or bool", operands.left.type());
  return finish(op, operands.left, operands.right);
}

Expr shift(BinaryOp op, const Expr& left, const Expr& right) {
  require_defined(left);
  require_defined(right);
  if (!left.type().is_int()) refuse(op, "integers", left.type());
  if (!right.type().is_int()) refuse(op, "integers", right.type());
  const std::uint32_t lanes = common_lanes(left.type(), right.type());
  const Expr count = widen(right, lanes);
  const Expr value = widen(left, lanes);
  // A count too large for the type must not wrap around to a small one.
  const DType code = left.type().code;
  if (const IntImm* constant_count = int_constant(count)) {
    const bool in_range = constant_count->value >= 0 && constant_count->value < left.type().bits();
    const std::int64_t kept = in_range ? constant_count->value : left.type().bits();
    return finish(op, value, constant(Type(code, lanes), kept));
  }
  if (right.type().bits() > left.type().bits() ||
      (right.type().bits() == left.type().bits() && right.type().is_unsigned_int() != left.type().is_unsigned_int())) {
    const Expr width = constant(count.type(), std::int64_t{left.type().bits()});
    const Expr bad =
        compare(BinaryOp::lt, count, constant(count.type(), std::int64_t{0})) || compare(BinaryOp::ge, count, width);
    return finish(op, value, cast(code, select(bad, width, count)));
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

Choice choice(const char* what, const Expr& condition, const Expr& on_true, const Expr& on_false) {
  require_defined(condition);
  if (!condition.type().is_bool()) {
    throw CompileError(std::string(what) + ": expected a bool condition, got " + to_text(condition.type()));
  }
  const Operands values = unify(on_true, on_false);
  const std::uint32_t lanes = common_lanes(condition.type(), values.left.type());
  return {widen(condition, lanes), widen(values.left, lanes), widen(values.right, lanes)};
}

}  // namespace

Type common_type(Type left, Type right) {
  const std::uint32_t lanes = common_lanes(left, right);
  if (left.code == right.code) return left.with_lanes(lanes);
  if (left.is_bool() || right.is_bool()) {
    const Type other = left.is_bool() ? right : left;
    throw CompileError("expected two numbers or two bools, got bool with " + to_text(other.element()) +
                       "; cast the bool first");
  }
  if (left.is_float() && right.is_float()) {
    if (left.bits() == right.bits()) return Type(DType::f32, lanes);
    return (left.bits() > right.bits() ? left : right).with_lanes(lanes);
  }
  if (left.is_float()) return left.with_lanes(lanes);
  if (right.is_float()) return right.with_lanes(lanes);
  if (left.is_signed_int() == right.is_signed_int())
    return (left.bits() > right.bits() ? left : right).with_lanes(lanes);
  switch (std::max(left.bits(), right.bits())) {
    case 8: return Type(DType::i8, lanes);
    case 16: return Type(DType::i16, lanes);
    case 32: return Type(DType::i32, lanes);
    default: return Type(DType::i64, lanes);
  }
}

Expr operator+(Expr left, Expr right) { return arithmetic(BinaryOp::add, left, right); }
Expr operator-(Expr left, Expr right) { return arithmetic(BinaryOp::sub, left, right); }
Expr operator*(Expr left, Expr right) { return arithmetic(BinaryOp::mul, left, right); }
Expr operator/(Expr left, Expr right) { return arithmetic(BinaryOp::div, left, right); }
Expr operator%(Expr left, Expr right) { return arithmetic(BinaryOp::mod, left, right); }
Expr operator&(Expr left, Expr right) { return bitwise(BinaryOp::bit_and, left, right); }
Expr operator|(Expr left, Expr right) { return bitwise(BinaryOp::bit_or, left, right); }
Expr operator^(Expr left, Expr right) { return bitwise(BinaryOp::bit_xor, left, right); }
Expr operator<<(Expr left, Expr right) { return shift(BinaryOp::shl, left, right); }
Expr operator>>(Expr left, Expr right) { return shift(BinaryOp::shr, left, right); }
Expr operator==(Expr left, Expr right) { return compare(BinaryOp::eq, left, right); }
Expr operator!=(Expr left, Expr right) { return compare(BinaryOp::ne, left, right); }
Expr operator<(Expr left, Expr right) { return compare(BinaryOp::lt, left, right); }
Expr operator<=(Expr left, Expr right) { return compare(BinaryOp::le, left, right); }
Expr operator>(Expr left, Expr right) { return compare(BinaryOp::gt, left, right); }
Expr operator>=(Expr left, Expr right) { return compare(BinaryOp::ge, left, right); }
Expr operator&&(Expr left, Expr right) { return logical(BinaryOp::logical_and, left, right); }
Expr operator||(Expr left, Expr right) { return logical(BinaryOp::logical_or, left, right); }
Expr min(Expr left, Expr right) { return arithmetic(BinaryOp::min, left, right); }
Expr max(Expr left, Expr right) { return arithmetic(BinaryOp::max, left, right); }

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

Expr select(Expr condition, Expr on_true, Expr on_false) {
  const Choice parts = choice("select", condition, on_true, on_false);
  if (const std::int64_t* known = as_int(parts.condition)) return *known != 0 ? parts.on_true : parts.on_false;
  return Select::make(parts.condition, parts.on_true, parts.on_false);
}

Expr if_then_else(Expr condition, Expr on_true, Expr on_false) {
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

Expr call_math(const std::string& name, std::vector<Expr> arguments) {
  struct Known {
    std::string_view name;
    std::size_t arguments;
    enum Kind { float_only, any_number, integer } kind;
  };
  static constexpr Known kKnown[] = {
#define FERRY_MATH(name, arguments, kind) {#name, arguments, Known::kind},
#include "crosscompile/ir/math.def"
#undef FERRY_MATH
  };
  const auto* const known =
      std::find_if(std::begin(kKnown), std::end(kKnown), [&](const Known& k) { return k.name == name; });
  if (known == std::end(kKnown)) throw CompileError("expected the name of a math function, got '" + name + "'");
  if (arguments.size() != known->arguments) {
    throw CompileError("'" + name + "': expected " + std::to_string(known->arguments) + " argument" +
                       (known->arguments == 1 ? "" : "s") + ", got " + std::to_string(arguments.size()));
  }
  for (Expr& argument : arguments) {
    require_defined(argument);
    if (argument.type().is_bool() || (known->kind == Known::integer && argument.type().is_float())) {
      throw CompileError("'" + name + "': expected " + (known->kind == Known::integer ? "an integer" : "a number") +
                         ", got " + to_text(argument.type()));
    }
  }
  // All arguments get one type, by the rules of the operators, then f32 in place of an integer where a float is wanted.
  for (std::size_t round = 0; round < 2; ++round) {
    for (std::size_t i = 1; i < arguments.size(); ++i) {
      const Operands pair = unify(arguments[0], arguments[i]);
      arguments[0] = pair.left;
      arguments[i] = pair.right;
    }
  }
  for (Expr& argument : arguments) {
    if (known->kind == Known::float_only && argument.type().is_int()) argument = cast(DType::f32, argument);
  }
  const Type type = arguments[0].type();
  if (name == "abs") {
    if (type.is_unsigned_int()) return arguments[0];
    if (const IntImm* integer = int_constant(arguments[0])) return integer->value < 0 ? -arguments[0] : arguments[0];
    if (const FloatImm* number = float_constant(arguments[0])) return constant(type, std::fabs(number->value));
  }
  return Call::make(type, name, std::move(arguments));
}

Expr ceil_div(Expr left, Expr right) { return (left + right - 1) / right; }

Expr constant(Type type, double value) {
  if (!type.is_float()) return constant(type, float_to_int(value, type.code));
  return Broadcast::make(FloatImm::make(type.element(), value), type.lanes);
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
