#include "crosscompile/cost/linear_index.h"

#include <algorithm>
#include <cmath>

namespace ferry::cost {

using ir::BinaryOp;
using ir::Expr;

double LinearIndex::coefficient(const ir::ExprNode* var) const {
  for (const LinearTerm& term : terms)
    if (term.var == var) return term.coefficient;
  return 0;
}

void LinearIndex::add(const LinearIndex& other, double factor) {
  constant += factor * other.constant;
  reads_memory |= other.reads_memory;
  is_exact = is_exact && other.is_exact;
  for (const LinearTerm& term : other.terms) {
    const auto mine = std::ranges::find(terms, term.var, &LinearTerm::var);
    if (mine == terms.end()) {
      if (factor * term.coefficient != 0) terms.push_back({term.var, factor * term.coefficient});
    } else if (mine->coefficient += factor * term.coefficient; mine->coefficient == 0) {
      terms.erase(mine);
    }
  }
}

namespace {

LinearIndex constant_index(double value) {
  LinearIndex index;
  index.constant = value;
  return index;
}

LinearIndex inexact(LinearIndex index) {
  index.is_exact = false;
  return index;
}

LinearIndex scaled(const LinearIndex& index, double factor) {
  LinearIndex result;
  result.add(index, factor);
  return result;
}

// An index as a multiple of a divisor, and what is left.
struct Divided {
  LinearIndex quotient, rest;
  bool is_exact = false;  // the rest is at least 0 and less than the divisor
};

Divided divided(const LinearIndex& index, double divisor, const Variables& variables) {
  Divided result;
  double low = 0, high = 0;
  for (const LinearTerm& term : index.terms) {
    if (std::fmod(term.coefficient, divisor) == 0) {
      result.quotient.terms.push_back({term.var, term.coefficient / divisor});
      continue;
    }
    result.rest.terms.push_back(term);
    const auto extent = variables.extents.find(term.var);
    (term.coefficient < 0 ? low : high) +=
        term.coefficient * (extent == variables.extents.end() ? divisor : extent->second - 1);
  }
  result.quotient.constant = std::floor(index.constant / divisor);
  result.rest.constant = index.constant - divisor * result.quotient.constant;
  result.quotient.reads_memory = result.rest.reads_memory = index.reads_memory;
  result.is_exact = result.rest.constant + low >= 0 && result.rest.constant + high < divisor;
  return result;
}

LinearIndex binary_index(const ir::Binary& node, const Variables& variables) {
  LinearIndex left = linear_index(node.left, variables), right = linear_index(node.right, variables);
  switch (node.op) {
    case BinaryOp::add: left.add(right); return left;
    case BinaryOp::sub: left.add(right, -1); return left;
    case BinaryOp::mul:
      if (right.terms.empty()) return scaled(left, right.constant);
      if (left.terms.empty()) return scaled(right, left.constant);
      return inexact(left);
    case BinaryOp::div: {
      if (!right.terms.empty() || right.constant <= 0) return inexact(left);
      Divided parts = divided(left, right.constant, variables);
      if (!parts.is_exact) parts.quotient.add(inexact(parts.rest), 1 / right.constant);
      return parts.quotient;
    }
    case BinaryOp::mod: {
      if (!right.terms.empty() || right.constant <= 0) return inexact(left);
      const Divided parts = divided(left, right.constant, variables);
      return parts.is_exact ? parts.rest : inexact(parts.rest);
    }
    case BinaryOp::min:
    case BinaryOp::max:
      if (!left.terms.empty()) return inexact(left);
      if (!right.terms.empty()) return inexact(right);
      return constant_index(node.op == BinaryOp::min ? std::min(left.constant, right.constant)
                                                     : std::max(left.constant, right.constant));
    default: left.add(right); return inexact(left);
  }
}

double binary_value(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::add: return a + b;
    case BinaryOp::sub: return a - b;
    case BinaryOp::mul: return a * b;
    case BinaryOp::div: return b == 0 ? 0 : std::floor(a / b);
    case BinaryOp::mod: return b == 0 ? 0 : a - b * std::floor(a / b);
    case BinaryOp::min: return std::min(a, b);
    case BinaryOp::max: return std::max(a, b);
    case BinaryOp::eq: return a == b ? 1 : 0;
    case BinaryOp::ne: return a != b ? 1 : 0;
    case BinaryOp::lt: return a < b ? 1 : 0;
    case BinaryOp::le: return a <= b ? 1 : 0;
    case BinaryOp::gt: return a > b ? 1 : 0;
    case BinaryOp::ge: return a >= b ? 1 : 0;
    case BinaryOp::logical_and: return a != 0 && b != 0 ? 1 : 0;
    case BinaryOp::logical_or: return a != 0 || b != 0 ? 1 : 0;
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
    case BinaryOp::shl:
    case BinaryOp::shr: break;
  }
  return NAN;
}

}  // namespace

LinearIndex linear_index(const Expr& expr, const Variables& variables) {
  if (const auto* number = expr.as<ir::IntImm>()) return constant_index(static_cast<double>(number->value));
  if (expr.as<ir::Var>() != nullptr) {
    const auto defined = variables.definitions.find(expr.get());
    if (defined != variables.definitions.end()) return defined->second;
    LinearIndex index;
    index.terms.push_back({expr.get(), 1});
    return index;
  }
  if (const auto* binary = expr.as<ir::Binary>()) return binary_index(*binary, variables);
  if (const auto* cast = expr.as<ir::Cast>()) return linear_index(cast->value, variables);
  if (const auto* choice = expr.as<ir::Select>()) return inexact(linear_index(choice->on_true, variables));
  if (const auto* choice = expr.as<ir::IfThenElse>()) return inexact(linear_index(choice->on_true, variables));
  if (const auto* unary = expr.as<ir::Unary>()) return scaled(linear_index(unary->value, variables), -1);
  LinearIndex index;
  index.reads_memory = true;
  return inexact(index);
}

std::optional<double> value_at(const Expr& expr, const Values& values) {
  if (const auto* number = expr.as<ir::IntImm>()) return static_cast<double>(number->value);
  if (expr.as<ir::Var>() != nullptr) {
    const auto value = values.find(expr.get());
    return value == values.end() ? std::nullopt : std::optional(value->second);
  }
  if (const auto* binary = expr.as<ir::Binary>()) {
    const std::optional<double> left = value_at(binary->left, values), right = value_at(binary->right, values);
    if (!left || !right) return std::nullopt;
    const double value = binary_value(binary->op, *left, *right);
    return std::isnan(value) ? std::nullopt : std::optional(value);
  }
  if (const auto* cast = expr.as<ir::Cast>()) return value_at(cast->value, values);
  if (const auto* unary = expr.as<ir::Unary>()) {
    const std::optional<double> value = value_at(unary->value, values);
    if (!value || unary->op == ir::UnaryOp::bit_not) return std::nullopt;
    return unary->op == ir::UnaryOp::neg ? -*value : (*value == 0 ? 1 : 0);
  }
  const Expr *condition = nullptr, *on_true = nullptr, *on_false = nullptr;
  if (const auto* choice = expr.as<ir::Select>())
    condition = &choice->condition, on_true = &choice->on_true, on_false = &choice->on_false;
  else if (const auto* chosen = expr.as<ir::IfThenElse>())
    condition = &chosen->condition, on_true = &chosen->on_true, on_false = &chosen->on_false;
  if (condition == nullptr) return std::nullopt;
  const std::optional<double> holds = value_at(*condition, values);
  return holds ? value_at(*holds != 0 ? *on_true : *on_false, values) : std::nullopt;
}

}  // namespace ferry::cost
