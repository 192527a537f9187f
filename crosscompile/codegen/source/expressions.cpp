#include "crosscompile/codegen/source/expressions.h"

#include "crosscompile/codegen/source/calls.h"
#include "crosscompile/codegen/source/integers.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/uses.h"

#include <limits>

namespace ferry::codegen::source {
namespace {

using ir::BinaryOp;

bool has_let(FunctionState& state, const ir::Expr& expr) {
  const auto [entry, is_new] = state.has_let.try_emplace(expr.get(), expr, false);
  if (is_new) entry->second.second = ir::contains(expr, {ir::ExprKind::Let});
  return entry->second.second;
}

Text int_text(const FunctionState& state, const ir::IntImm& node) {
  std::string text = int_literal(state.unit.dialect.language, node.type.code, node.value);
  const bool is_wide = node.type.bits() == 64;
  const bool is_long = text.find('l') != std::string::npos;
  const Binding binding = text[0] == '-' ? Binding::unary : Binding::postfix;
  return {std::move(text), binding, is_wide && !is_long};
}

Text float_text(const FunctionState& state, const ir::FloatImm& node) {
  if (node.type.is_narrow_float()) {
    const std::uint16_t bits = node.type.code == DType::f16 ? f64_to_f16(node.value) : f64_to_bf16(node.value);
    return {int_literal(state.unit.dialect.language, node.type.code, bits)};
  }
  std::string text = float_literal(node.type.code, node.value);
  const Binding binding = text[0] == '-' || text[0] == '(' ? Binding::unary : Binding::postfix;
  return {std::move(text), binding};
}

Text cast_text(FunctionState& state, const ir::Cast& node) {
  const DType from = node.value.type().code, to = node.type.code;
  if (node.value.type().is_narrow_float() || node.type.is_narrow_float()) {
    if (from != DType::f32 && to != DType::f32)
      throw InternalError("a cast from or to a narrow float that is not float32's; legalize_floats must stand before");
    const std::string function = to == DType::f32 ? state.unit.helpers.use(Helper::to_single, from)
                                                  : state.unit.helpers.use(Helper::from_single, to);
    return {function + "(" + print(state, node.value) + ")"};
  }
  if (to == DType::boolean) return {print(state, node.value, Binding::comparison) + " != 0", Binding::equality};
  if (is_float(from) && !is_float(to))
    return {state.unit.helpers.use_saturating(from, to) + "(" + print(state, node.value) + ")"};
  return {"(" + value_type(to) + ")" + print(state, node.value, Binding::unary), Binding::unary};
}

Text unary_text(FunctionState& state, const ir::Unary& node) {
  switch (node.op) {
    case ir::UnaryOp::neg:
      if (node.type.is_int()) return int_negation_text(state, node);
      return {"-" + print(state, node.value, Binding::postfix), Binding::unary};
    case ir::UnaryOp::logical_not: return {"!" + print(state, node.value, Binding::postfix), Binding::unary};
    case ir::UnaryOp::bit_not: {
      Text value = expr_text(state, node.value);
      const bool literal = value.is_narrow_literal;
      const std::string type = "(" + value_type(node.type.code) + ")";
      const std::string text = "~" + (literal ? type : "") + wrapped(std::move(value), Binding::unary);
      // C promotes operands narrower than int to int.
      if (node.type.is_unsigned_int() && node.type.bits() < 32) return {type + text, Binding::unary};
      return {text, Binding::unary};
    }
  }
  throw InternalError("unary_text: unknown operation");
}

const char* infix_operator(BinaryOp op) {
  switch (op) {
    case BinaryOp::add: return " + ";
    case BinaryOp::sub: return " - ";
    case BinaryOp::mul: return " * ";
    case BinaryOp::div: return " / ";
    case BinaryOp::eq: return " == ";
    case BinaryOp::ne: return " != ";
    case BinaryOp::lt: return " < ";
    case BinaryOp::le: return " <= ";
    case BinaryOp::gt: return " > ";
    case BinaryOp::ge: return " >= ";
    default: throw InternalError("infix_operator: no operator of C");
  }
}

Text joined(FunctionState& state, const ir::Binary& node, Binding binding, Binding left, Binding right) {
  return {print(state, node.left, left) + infix_operator(node.op) + print(state, node.right, right), binding};
}

Text comparison_text(FunctionState& state, const ir::Binary& node) {
  const bool is_equality = node.op == BinaryOp::eq || node.op == BinaryOp::ne;
  const bool of_bools = node.left.type().is_bool();
  const Binding inside = of_bools ? Binding::postfix : Binding::shift;
  return joined(state, node, is_equality ? Binding::equality : Binding::comparison, inside, inside);
}

Text bool_text(FunctionState& state, const ir::Binary& node) {
  const auto text = [&](const char* op, Binding binding, Binding inside) {
    return Text{print(state, node.left, inside) + op + print(state, node.right, inside), binding};
  };
  switch (node.op) {
    case BinaryOp::logical_and: return text(" && ", Binding::logical_and, Binding::logical_and);
    case BinaryOp::logical_or: {
      // Compilers warn about && inside || without parentheses.
      const auto side = [&](const ir::Expr& expr) {
        Text one = expr_text(state, expr);
        return one.binding == Binding::logical_and ? "(" + one.text + ")"
                                                   : wrapped(std::move(one), Binding::logical_or);
      };
      const std::string left = side(node.left);
      return {left + " || " + side(node.right), Binding::logical_or};
    }
    case BinaryOp::bit_and: return text(" & ", Binding::bit_and, Binding::unary);
    case BinaryOp::bit_or: return text(" | ", Binding::bit_or, Binding::unary);
    case BinaryOp::bit_xor: return text(" != ", Binding::equality, Binding::postfix);
    default: throw InternalError("bool_text: not an operation on bools");
  }
}

Text binary_text(FunctionState& state, const ir::Binary& node) {
  if (ir::is_comparison(node.op)) return comparison_text(state, node);
  const ir::Type type = node.type;
  if (type.is_bool()) return bool_text(state, node);
  if (type.is_int()) return int_binary_text(state, node);
  if (type.is_narrow_float()) throw InternalError("arithmetic in a narrow float; legalize_floats must stand before");
  switch (node.op) {
    case BinaryOp::add: return joined(state, node, Binding::sum, Binding::sum, Binding::product);
    case BinaryOp::sub: return joined(state, node, Binding::sum, Binding::sum, Binding::product);
    case BinaryOp::mul:
    case BinaryOp::div: return joined(state, node, Binding::product, Binding::product, Binding::unary);
    default: break;
  }
  const Helper helper = node.op == BinaryOp::min ? Helper::min : Helper::max;
  return {state.unit.helpers.use(helper, type.code) + "(" + print(state, node.left) + ", " + print(state, node.right) +
          ")"};
}

Text choice_text(FunctionState& state, const ir::Expr& condition, const ir::Expr& on_true, const ir::Expr& on_false) {
  const std::string test = print(state, condition, Binding::logical_or);
  Text yes = expr_text(state, on_true), no = expr_text(state, on_false);
  const bool literals = yes.is_narrow_literal && no.is_narrow_literal;
  if (literals) yes = {"(" + value_type(on_true.type().code) + ")" + wrapped(yes, Binding::unary), Binding::unary};
  return {test + " ? " + wrapped(yes, Binding::logical_or) + " : " + wrapped(no, Binding::logical_or), Binding::choice};
}

void assign(FunctionState& state, const std::string& name, const ir::Expr& value) {
  state.names.open();
  ++state.indent;
  const std::string text = print(state, value);
  state.line(name + " = " + text + ";");
  --state.indent;
  state.names.close();
}

// A side with lets of its own becomes a statement, so that the lets are computed only where that side is chosen.
Text guarded_text(FunctionState& state, const ir::IfThenElse& node) {
  if (!has_let(state, node.on_true) && !has_let(state, node.on_false))
    return choice_text(state, node.condition, node.on_true, node.on_false);
  const std::string test = print(state, node.condition);
  const std::string name = state.names.fresh("chosen");
  state.line(value_type(node.type.code) + " " + name + ";");
  state.line("if (" + test + ") {");
  assign(state, name, node.on_true);
  state.line("} else {");
  assign(state, name, node.on_false);
  state.line("}");
  return {name};
}

Text load_text(FunctionState& state, const ir::Load& node) {
  if (node.mask.defined() && has_let(state, node.indices.at(0))) {
    const ir::Expr zero = node.type.is_float() ? ir::FloatImm::make(node.type, 0) : ir::IntImm::make(node.type, 0);
    const ir::Expr choice = ir::IfThenElse::make(node.mask, ir::Load::make(node.buffer, node.indices), zero);
    return guarded_text(state, *choice.as<ir::IfThenElse>());
  }
  const std::string mask = node.mask.defined() ? print(state, node.mask, Binding::logical_or) : "";
  const std::string element = element_text(state, *node.buffer, node.indices.at(0));
  const bool is_bool = node.type.is_bool();
  const Text loaded = is_bool ? Text{element + " != 0", Binding::equality} : Text{element};
  if (mask.empty()) return loaded;
  return {mask + " ? " + wrapped(loaded, Binding::logical_or) + " : 0", Binding::choice};
}

Text let_text(FunctionState& state, const ir::Let& node) {
  const ir::ExprNode* var = node.var.get();
  const std::string value = print(state, node.value);
  state.known[var] = analysis::range_of(state.known, node.value);
  state.assumed[var] = analysis::range_of(state.assumed, node.value);
  const std::string name = state.names.declare(node.var);
  state.line("const " + value_type(node.value.type().code) + " " + name + " = " + value + ";");
  Text body = expr_text(state, node.body);
  // The same let may occur again elsewhere.
  state.names.forget(var);
  return body;
}

}  // namespace

std::string wrapped(Text text, Binding around) {
  return text.binding < around ? "(" + text.text + ")" : std::move(text.text);
}

std::string print(FunctionState& state, const ir::Expr& expr, Binding around) {
  return wrapped(expr_text(state, expr), around);
}

std::string print_index(FunctionState& state, const ir::Expr& expr, Binding around) {
  const bool before = state.addressing;
  state.addressing = true;
  std::string text = print(state, expr, around);
  state.addressing = before;
  return text;
}

std::string element_text(FunctionState& state, const ir::Buffer& buffer, const ir::Expr& index) {
  const std::string& name = state.names.of(buffer);
  return state.scalars.contains(&buffer) ? name : name + "[" + print_index(state, index) + "]";
}

Text expr_text(FunctionState& state, const ir::Expr& expr) {
  switch (expr.kind()) {
    case ir::ExprKind::IntImm: return int_text(state, *expr.as<ir::IntImm>());
    case ir::ExprKind::FloatImm: return float_text(state, *expr.as<ir::FloatImm>());
    case ir::ExprKind::Var: return {state.names.of(*expr.as<ir::Var>())};
    case ir::ExprKind::Cast: return cast_text(state, *expr.as<ir::Cast>());
    case ir::ExprKind::Unary: return unary_text(state, *expr.as<ir::Unary>());
    case ir::ExprKind::Binary: return binary_text(state, *expr.as<ir::Binary>());
    case ir::ExprKind::Select: {
      const auto* node = expr.as<ir::Select>();
      return choice_text(state, node->condition, node->on_true, node->on_false);
    }
    case ir::ExprKind::IfThenElse: return guarded_text(state, *expr.as<ir::IfThenElse>());
    case ir::ExprKind::Load: return load_text(state, *expr.as<ir::Load>());
    case ir::ExprKind::Call: return call_text(state, *expr.as<ir::Call>());
    case ir::ExprKind::Let: return let_text(state, *expr.as<ir::Let>());
    case ir::ExprKind::Reduce:
    case ir::ExprKind::Ramp:
    case ir::ExprKind::Broadcast:
    case ir::ExprKind::VectorReduce: throw InternalError("expr_text: a vector or a reduction is left over");
  }
  throw InternalError("expr_text: an unknown kind of expression");
}

}  // namespace ferry::codegen::source
