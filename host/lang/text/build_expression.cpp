#include "host/lang/text/build_expression.h"

#include "host/lang/names.h"
#include "host/lang/stages.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ferry::lang {
namespace {

bool fits_int32(const Expr& integer) {
  const std::int64_t value = *ir::as_int(integer);
  return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

// Whether this is 2^63, which only its negative fits int64.
bool is_least_without_sign(const Syntax& syntax) {
  return syntax.kind == Syntax::Kind::number && syntax.token.kind == TokenKind::integer &&
         syntax.token.integer == std::uint64_t{1} << 63 && (syntax.token.suffix.empty() || syntax.token.suffix == "l");
}

}  // namespace

Expr ExpressionBuilder::index(const Name& name) {
  for (const Index& index : indices_) {
    if (index.name.text == name.text) return index.var;
  }
  constexpr std::size_t kMaxIndices = 32;
  if (indices_.size() == kMaxIndices) {
    throw scope_.source->error(name.offset,
                               "expected at most " + std::to_string(kMaxIndices) + " indices in a statement");
  }
  indices_.push_back({name, var(std::string(name.text))});
  return indices_.back().var;
}

Expr ExpressionBuilder::settle(const Value& value) {
  if (!value.is_literal()) return value.expr();
  if (value.type().is_float()) return ir::cast(DType::f32, value.expr());
  return fits_int32(value.expr()) ? ir::cast(DType::i32, value.expr()) : value.expr();
}

Expr ExpressionBuilder::build(const Syntax& syntax, DType type) {
  const Value built = value(syntax);
  if (!built.is_literal() || type == DType::boolean || (built.type().is_float() && !is_float(type)))
    return settle(built);
  return built.as(type);
}

std::vector<Expr> ExpressionBuilder::together(const std::vector<Value>& values) {
  std::vector<Expr> unified = ir::unify(values);
  for (const Value& value : values) {
    if (!value.is_literal()) return unified;
  }
  DType alone = DType::f32;
  if (unified[0].type().is_int()) {
    alone = std::all_of(unified.begin(), unified.end(), fits_int32) ? DType::i32 : DType::i64;
  }
  for (Expr& value : unified) value = ir::cast(alone, value);
  return unified;
}

ExpressionBuilder::Value ExpressionBuilder::unknown_like(const Expr& value) {
  const bool is_real = value.type().is_float();
  return Value::literal(is_real ? ir::constant(DType::f64, 0.0) : ir::constant(ir::kIndex, std::int64_t{0}));
}

ExpressionBuilder::Value ExpressionBuilder::value(const Syntax& syntax) {
  return scope_.source->at(syntax.offset, [&] {
    switch (syntax.kind) {
      case Syntax::Kind::number: return number(syntax);
      case Syntax::Kind::name: return name(syntax);
      case Syntax::Kind::call: return call(syntax);
      case Syntax::Kind::unary: return unary(syntax);
      case Syntax::Kind::binary: return binary(syntax);
      case Syntax::Kind::choice: return choice(syntax);
    }
    throw InternalError("an expression of no kind");
  });
}

ExpressionBuilder::Value ExpressionBuilder::number(const Syntax& syntax) const {
  const Token& token = syntax.token;
  if (token.kind == TokenKind::real) {
    if (token.suffix == "f") return ir::constant(DType::f32, token.real);
    if (token.suffix == "h") return ir::constant(DType::f16, token.real);
    return Value::literal(ir::constant(DType::f64, token.real));
  }
  const auto bits = static_cast<std::int64_t>(token.integer);
  if (token.suffix == "ul") return ir::constant(DType::u64, bits);
  const std::uint64_t most = token.suffix == "u" ? std::numeric_limits<std::uint32_t>::max()
                                                 : std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (token.integer > most) {
    throw scope_.source->error(syntax.offset, "expected a number up to " + std::to_string(most) + ", got '" +
                                                  std::string(token.text) + "'; the suffix ul allows 64 bits");
  }
  if (token.suffix == "u") return ir::constant(DType::u32, bits);
  const Expr number = ir::constant(ir::kIndex, bits);
  return token.suffix.empty() ? Value::literal(number) : Value(number);
}

ExpressionBuilder::Value ExpressionBuilder::name(const Syntax& syntax) {
  const std::string_view text = syntax.text;
  if (const auto found = scope_.sizes.find(text); found != scope_.sizes.end()) return found->second;
  if (const auto found = scope_.scalars.find(text); found != scope_.scalars.end()) return found->second;
  if (const auto found = scope_.tensors.find(text); found != scope_.tensors.end())
    return element(syntax, found->second);
  if (text == "true" || text == "false") return text == "true";
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  scope_.check_not_later(text, syntax.offset);
  if (!indices_allowed_) {
    throw scope_.source->error(syntax.offset, "'" + std::string(text) + "' is neither a size nor a scalar parameter" +
                                                  suggestion(std::string(text), scope_.names()));
  }
  return index({text, syntax.offset});
}

ExpressionBuilder::Value ExpressionBuilder::unary(const Syntax& syntax) {
  if (syntax.text == "!") return !condition(syntax.parts[0]);
  if (syntax.text == "-" && is_least_without_sign(syntax.parts[0])) {
    const Expr least = ir::constant(ir::kIndex, std::numeric_limits<std::int64_t>::min());
    return syntax.parts[0].token.suffix.empty() ? Value::literal(least) : Value(least);
  }
  const Value operand = value(syntax.parts[0]);
  const auto same_kind = [&](Expr result) { return operand.is_literal() ? Value::literal(result) : Value(result); };
  if (syntax.text == "-") return same_kind(-operand.expr());
  if (syntax.text == "~") return same_kind(~operand.expr());
  if (operand.type().is_bool()) throw CompileError("'+': expected a number, got bool");
  return operand;
}

Expr ExpressionBuilder::condition(const Syntax& syntax) {
  const Expr expr = settle(value(syntax));
  return ir::cast(DType::boolean, expr);
}

// && and || are short-circuiting, so the left side may guard an index on the right: i > 0 && A(i - 1) > 0.
ExpressionBuilder::Value ExpressionBuilder::conditions(bool all, const std::vector<Syntax>& parts) {
  Expr so_far = condition(parts[0]);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    guards_.push_back(all ? so_far : !so_far);
    const Expr next = condition(parts[i]);
    guards_.pop_back();
    if (loads_of(next).empty()) {
      so_far = all ? so_far && next : so_far || next;
      continue;
    }
    const Expr decided = ir::constant(ir::kBool, std::int64_t{!all});
    so_far = all ? ir::if_then_else(so_far, next, decided) : ir::if_then_else(so_far, decided, next);
  }
  return so_far;
}

ExpressionBuilder::Value ExpressionBuilder::guarded(const Expr& guard, const Syntax& syntax) {
  guards_.push_back(guard);
  Value result = value(syntax);
  guards_.pop_back();
  return result;
}

ExpressionBuilder::Value ExpressionBuilder::binary(const Syntax& syntax) {
  const std::string_view op = syntax.text;
  if (op == "&&" || op == "||") {
    return conditions(op == "&&", syntax.parts);
  }
  const Value left = value(syntax.parts[0]), right = value(syntax.parts[1]);
  // An operation on literals only is a literal.
  const bool literal = left.is_literal() && right.is_literal();
  const auto arithmetic = [&](Expr result) { return literal ? Value::literal(result) : Value(result); };
  if (op == "+") return arithmetic(left + right);
  if (op == "-") return arithmetic(left - right);
  if (op == "*") return arithmetic(left * right);
  if (op == "/") return arithmetic(left / right);
  if (op == "%") return arithmetic(left % right);
  if (op == "&") return arithmetic(left & right);
  if (op == "|") return arithmetic(left | right);
  if (op == "^") return arithmetic(left ^ right);
  if (op == "<<") return arithmetic(left << right);
  if (op == ">>") return arithmetic(left >> right);
  if (op == "==") return left == right;
  if (op == "!=") return left != right;
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  if (op == ">") return left > right;
  if (op == ">=") return left >= right;
  throw InternalError("an operator of no meaning");
}

ExpressionBuilder::Value ExpressionBuilder::choice(const Syntax& syntax) {
  return choose(condition(syntax.parts[0]), syntax.parts[1], syntax.parts[2]);
}

ExpressionBuilder::Value ExpressionBuilder::choose(Expr condition, const Syntax& on_true, const Syntax& on_false) {
  const std::vector<Value> sides = {guarded(condition, on_true), guarded(!condition, on_false)};
  // Otherwise "i >= 1 ? S(i - 1) : 0" would have a type already.
  if (is_self_unknown() && sides[0].is_literal() && sides[1].is_literal()) return unknown_like(ir::unify(sides)[0]);
  std::vector<Expr> values = together(sides);
  const bool reads = !loads_of(values[0]).empty() || !loads_of(values[1]).empty();
  return reads ? ir::if_then_else(condition, values[0], values[1]) : ir::select(condition, values[0], values[1]);
}

ExpressionBuilder::Value ExpressionBuilder::call(const Syntax& syntax) {
  if (!self_name_.empty() && syntax.text == self_name_) return self_element(syntax);
  if (const auto tensor = scope_.tensors.find(syntax.text); tensor != scope_.tensors.end()) {
    return element(syntax, tensor->second);
  }
  return builtin(syntax);
}

ExpressionBuilder::Value ExpressionBuilder::self_element(const Syntax& syntax) {
  if (self_.buffer() != nullptr) return element(syntax, self_);
  for (const Syntax& part : syntax.parts) value(part);
  if (is_self_bool_) return ir::constant(ir::kBool, std::int64_t{0});
  return 0;
}

ExpressionBuilder::Value ExpressionBuilder::element(const Syntax& syntax, const Tensor& tensor) {
  if (syntax.parts.size() != tensor.rank()) {
    throw scope_.source->error(syntax.offset, "'" + std::string(syntax.text) + "': expected " +
                                                  counted(tensor.rank(), "index", "indices") + ", got " +
                                                  std::to_string(syntax.parts.size()));
  }
  std::vector<Expr> at;
  for (const Syntax& part : syntax.parts) {
    const Expr one = build(part, DType::i64);
    if (!one.type().is_int()) {
      throw scope_.source->error(part.offset, "expected an integer as an index of '" + std::string(syntax.text) +
                                                  "', got " + ir::to_text(one.type()));
    }
    at.push_back(one);
  }
  const Expr load = tensor.at(std::move(at));
  uses_.push_back({load, &syntax, guards_});
  return load;
}

}  // namespace ferry::lang
