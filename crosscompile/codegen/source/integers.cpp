#include "crosscompile/codegen/source/integers.h"

#include "crosscompile/analysis/wrapping.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/uses.h"

#include <limits>

namespace ferry::codegen::source {
namespace {

using analysis::ValueRange;
using ir::BinaryOp;

bool is_narrow(ir::Type type) { return type.bits() < 32; }
bool is_wide(ir::Type type) { return type.bits() == 64; }

std::string unsigned_type(ir::Type type) { return is_wide(type) ? "uint64_t" : "uint32_t"; }

const char* operator_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return " + ";
    case BinaryOp::sub: return " - ";
    case BinaryOp::mul: return " * ";
    case BinaryOp::div: return " / ";
    case BinaryOp::mod: return " % ";
    case BinaryOp::bit_and: return " & ";
    case BinaryOp::bit_or: return " | ";
    case BinaryOp::bit_xor: return " ^ ";
    case BinaryOp::shl: return " << ";
    case BinaryOp::shr: return " >> ";
    default: throw InternalError("operator_of: not an operator");
  }
}

Binding binding_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::add:
    case BinaryOp::sub: return Binding::sum;
    case BinaryOp::mul:
    case BinaryOp::div:
    case BinaryOp::mod: return Binding::product;
    case BinaryOp::bit_and: return Binding::bit_and;
    case BinaryOp::bit_or: return Binding::bit_or;
    case BinaryOp::bit_xor: return Binding::bit_xor;
    default: return Binding::shift;
  }
}

Binding tighter(Binding binding) { return static_cast<Binding>(static_cast<int>(binding) + 1); }

// Whether a variable may be any number: a scalar argument that is neither a size nor a stride.
bool is_data(const FunctionState& state, const ir::Expr& var) {
  if (state.assumed.find(var.get()) != state.assumed.end()) return false;
  bool is_scalar = false, is_stride = false;
  for (const ir::FunctionParameter& parameter : state.source.parameters) {
    if (parameter.kind == ParameterKind::scalar) {
      is_scalar = is_scalar || (parameter.scalar.same_as(var) && !parameter.is_size);
    } else {
      for (const ir::Expr& stride : parameter.buffer->strides) is_stride = is_stride || ir::uses_var(stride, var);
    }
  }
  return is_scalar && !is_stride;
}

// Returns whether the value may leave its type's range; range_of() then returns the whole range of the type.
bool may_overflow(FunctionState& state, const ir::Expr& expr) {
  const ir::Type type = expr.type();
  // Addresses stay below the size of memory, unless they are computed of what wraps on the way.
  if (state.addressing && type == ir::kIndex && !ir::contains(expr, {ir::ExprKind::Load, ir::ExprKind::Call})) {
    if (!analysis::may_wrap(expr, [&](const ir::Expr& var) { return is_data(state, var); })) return false;
  }
  const ValueRange range = analysis::range_of(state.assumed, expr);
  const int width = type.bits();
  if (width == 64)
    return !range.within(std::numeric_limits<std::int64_t>::min() + 1, std::numeric_limits<std::int64_t>::max() - 1);
  const std::int64_t end = std::int64_t{1} << (type.is_signed_int() ? width - 1 : width);
  const std::int64_t low = type.is_signed_int() ? -end : 0;
  return range.min <= low && range.max >= end - 1;
}

// Prints an operand. C computes in the wider of the operands' types and int, which must be the type in the IR.
std::string operand(FunctionState& state, const ir::Expr& expr, Binding around, bool alone) {
  Text text = expr_text(state, expr);
  if (!text.is_narrow_literal || !alone) return wrapped(std::move(text), around);
  return "(" + value_type(expr.type().code) + ")" + wrapped(std::move(text), Binding::unary);
}

// Returns whether the expression begins with a division: a * (b / c * d) differs from a * b / c * d.
bool begins_with_division(const ir::Expr& expr) {
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr) return false;
  if (binary->op == BinaryOp::mul) return begins_with_division(binary->left);
  return binary->op == BinaryOp::div || binary->op == BinaryOp::mod;
}

// Returns whether a op (b op c) equals (a op b) op c, and the result of a and b cannot overflow either.
bool chains(const FunctionState& state, const ir::Binary& node) {
  const auto* right = node.right.as<ir::Binary>();
  if (right == nullptr || !state.addressing || node.type != ir::kIndex) return false;
  if (node.op == BinaryOp::add) return right->op == BinaryOp::add || right->op == BinaryOp::sub;
  return node.op == BinaryOp::mul && right->op == BinaryOp::mul && !begins_with_division(right->left);
}

Text plain(FunctionState& state, const ir::Binary& node) {
  const Binding binding = binding_of(node.op);
  const bool bits = binding < Binding::sum;  // few readers know their precedence
  const auto* constant = node.right.as<ir::IntImm>();
  const bool subtracts = node.op == BinaryOp::add && constant != nullptr && node.type.is_signed_int() &&
                         constant->value < 0 && constant->value > std::numeric_limits<std::int32_t>::min();
  const Text left = expr_text(state, node.left);
  const Text right = subtracts ? Text{int_literal(state.unit.dialect.language, node.type.code, -constant->value)}
                               : expr_text(state, node.right);
  const bool alone = left.is_narrow_literal && (right.is_narrow_literal || subtracts);
  std::string text = alone ? "(" + value_type(node.type.code) + ")" + wrapped(left, Binding::unary)
                           : wrapped(left, bits ? Binding::unary : binding);
  text += subtracts ? " - " : operator_of(node.op);
  text += wrapped(right, bits ? Binding::unary : chains(state, node) ? binding : tighter(binding));
  return {text, binding};
}

Text cast_to(ir::Type type, Text value) {
  return {"(" + value_type(type.code) + ")" + wrapped(std::move(value), Binding::unary), Binding::unary};
}

// Prints the operation, and nested operations of the same kind, in unsigned integers of its width.
Text in_unsigned(FunctionState& state, const ir::Expr& expr) {
  const auto* binary = expr.as<ir::Binary>();
  const bool wraps = binary != nullptr && binary->op <= BinaryOp::mul && may_overflow(state, expr);
  if (wraps) {
    const Binding binding = binding_of(binary->op);
    return {wrapped(in_unsigned(state, binary->left), binding) + operator_of(binary->op) +
                wrapped(in_unsigned(state, binary->right), tighter(binding)),
            binding};
  }
  const auto* constant = expr.as<ir::IntImm>();
  if (constant != nullptr && constant->value >= 0 && constant->value <= std::numeric_limits<std::int32_t>::max()) {
    const DType bits = is_wide(expr.type()) ? DType::u64 : DType::u32;
    return {(bits == DType::u64 ? "(uint64_t)" : "") + int_literal(state.unit.dialect.language, bits, constant->value),
            bits == DType::u64 ? Binding::unary : Binding::postfix};
  }
  return {"(" + unsigned_type(expr.type()) + ")" + print(state, expr, Binding::unary), Binding::unary};
}

Text sum_or_product(FunctionState& state, const ir::Binary& node) {
  const ir::Type type = node.type;
  if (type.is_unsigned_int() && !is_narrow(type)) return plain(state, node);
  const ir::Expr self(std::shared_ptr<const ir::Binary>(std::shared_ptr<void>(), &node));
  if (!may_overflow(state, self)) return plain(state, node);
  if (!is_narrow(type)) return cast_to(type, in_unsigned(state, self));
  // int holds every other result of narrow types.
  if (type.code == DType::u16 && node.op == BinaryOp::mul) return cast_to(type, in_unsigned(state, self));
  return cast_to(type, plain(state, node));
}

Text helper_call(FunctionState& state, Helper helper, const ir::Binary& node) {
  const std::string name = state.unit.helpers.use(helper, node.left.type().code);
  return {name + "(" + print(state, node.left) + ", " + print(state, node.right) + ")"};
}

Text division(FunctionState& state, const ir::Binary& node) {
  const ValueRange left = analysis::range_of(state.assumed, node.left),
                   right = analysis::range_of(state.assumed, node.right);
  const auto* constant = node.right.as<ir::IntImm>();
  const bool positive = (constant != nullptr && constant->value != 0 && node.type.is_unsigned_int()) || right.min > 0;
  if (positive && (node.type.is_unsigned_int() || left.is_non_negative())) return plain(state, node);
  return helper_call(state, node.op == BinaryOp::div ? Helper::floor_div : Helper::floor_mod, node);
}

Text shift(FunctionState& state, const ir::Binary& node) {
  const bool to_left = node.op == BinaryOp::shl;
  const ir::Type type = node.type;
  if (!analysis::range_of(state.known, node.right).within(0, type.bits() - 1))
    return helper_call(state, to_left ? Helper::shift_left : Helper::shift_right, node);
  const std::string amount = print(state, node.right, Binding::unary);
  const bool as_it_is = !to_left || (type.is_unsigned_int() && !is_narrow(type));
  if (as_it_is)
    return {operand(state, node.left, Binding::unary, true) + operator_of(node.op) + amount, Binding::shift};
  const std::string bits = "(" + unsigned_type(type) + ")" + print(state, node.left, Binding::unary);
  return cast_to(type, {bits + " << " + amount, Binding::shift});
}

}  // namespace

Text int_binary_text(FunctionState& state, const ir::Binary& node) {
  switch (node.op) {
    case BinaryOp::add:
    case BinaryOp::sub:
    case BinaryOp::mul: return sum_or_product(state, node);
    case BinaryOp::div:
    case BinaryOp::mod: return division(state, node);
    case BinaryOp::min: return helper_call(state, Helper::min, node);
    case BinaryOp::max: return helper_call(state, Helper::max, node);
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor: return plain(state, node);
    case BinaryOp::shl:
    case BinaryOp::shr: return shift(state, node);
    case BinaryOp::eq:
    case BinaryOp::ne:
    case BinaryOp::lt:
    case BinaryOp::le:
    case BinaryOp::gt:
    case BinaryOp::ge:
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: break;
  }
  throw InternalError("int_binary_text: not an operation on integers");
}

Text int_negation_text(FunctionState& state, const ir::Unary& node) {
  const ir::Type type = node.type;
  const ValueRange range = analysis::range_of(state.assumed, node.value);
  const std::int64_t lowest =
      is_wide(type) ? std::numeric_limits<std::int64_t>::min() : -(std::int64_t{1} << (type.bits() - 1));
  if (type.is_signed_int() && range.min > lowest)
    return {"-" + operand(state, node.value, Binding::postfix, true), Binding::unary};
  if (is_narrow(type)) return cast_to(type, {"-" + print(state, node.value, Binding::postfix), Binding::unary});
  const Text negated{"0 - (" + unsigned_type(type) + ")" + print(state, node.value, Binding::unary), Binding::sum};
  return type.is_signed_int() ? cast_to(type, negated) : negated;
}

}  // namespace ferry::codegen::source
