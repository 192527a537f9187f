// Determines the common type of operands, and converts literals to it.
#include "crosscompile/ir/arithmetic.h"
#include "crosscompile/ir/common_lanes.h"
#include "ferry/operators.h"

#include <cmath>
#include <optional>

namespace ferry::ir {
namespace {

// Computes the common type of operands.
class Meeting {
 public:
  void add(const ExprOrLiteral& operand) {
    if (!operand.expr().defined()) throw InternalError("an operand is missing");
    const Type type = operand.type();
    if (!operand.is_literal()) {
      fixed_ = fixed_ ? common_type(*fixed_, type) : type;
      return;
    }
    literals_ = literals_ ? common_type(*literals_, type) : type;
  }

  Type type() const {
    if (!fixed_ || !literals_) return fixed_ ? *fixed_ : literals_.value();
    const std::uint32_t lanes = common_lanes(*fixed_, *literals_);
    if (fixed_->is_bool()) return common_type(*fixed_, *literals_);
    // Next to an integer, a float literal becomes f32.
    return Type(literals_->is_float() && !fixed_->is_float() ? DType::f32 : fixed_->code, lanes);
  }

 private:
  std::optional<Type> fixed_, literals_;
};

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
  // The narrowest signed type that holds the values of both, if there is one, and otherwise i64.
  const Type& with_sign = left.is_signed_int() ? left : right;
  const Type& without = left.is_signed_int() ? right : left;
  const int bits = std::max(with_sign.bits(), without.bits() * 2);
  return Type(bits <= 16 ? DType::i16 : bits <= 32 ? DType::i32 : DType::i64, lanes);
}

ExprOrLiteral::ExprOrLiteral(bool value) : expr_(constant(kBool, std::int64_t{value})) {}

ExprOrLiteral ExprOrLiteral::literal(Expr constant) {
  ExprOrLiteral operand(std::move(constant));
  operand.is_literal_ = true;
  return operand;
}

Expr ExprOrLiteral::as(DType to) const {
  const std::int64_t* number = is_literal_ ? as_int(expr_) : nullptr;
  if (number != nullptr && !is_float(to)) {
    const bool sign_survives = is_unsigned_int(to) == type().is_unsigned_int() || *number >= 0;
    if (wrap(to, *number) != *number || !sign_survives) {
      throw CompileError("expected a constant that fits " + std::string(dtype_name(to)) + ", got " +
                         std::to_string(*number) + "; cast the other side to a wider type");
    }
  }
  Expr converted = cast(to, expr_);
  if (const auto* real = converted.as<FloatImm>(); is_literal_ && real != nullptr && std::isinf(real->value)) {
    const auto* written = expr_.as<FloatImm>();
    if (written == nullptr || std::isfinite(written->value)) {
      throw CompileError("expected a constant that fits " + std::string(dtype_name(to)) +
                         ", got one that rounds to infinity; write inf, or cast the other side to a wider type");
    }
  }
  return converted;
}

std::vector<Expr> unify(const std::vector<ExprOrLiteral>& operands) {
  Meeting meeting;
  for (const ExprOrLiteral& operand : operands) meeting.add(operand);
  std::vector<Expr> unified;
  if (operands.empty()) return unified;
  const Type type = meeting.type();
  for (const ExprOrLiteral& operand : operands) unified.push_back(widen(operand.as(type.code), type.lanes));
  return unified;
}

}  // namespace ferry::ir
