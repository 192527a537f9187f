// Evaluates index expressions point by point: the reference that the analyses are compared with.
#pragma once

#include "crosscompile/ir/expr.h"

#include <functional>
#include <stdexcept>
#include <unordered_map>
#include <vector>

namespace ferry::analysis_test {

using Values = std::unordered_map<const ir::ExprNode*, std::int64_t>;

inline std::int64_t floored(std::int64_t a, std::int64_t b) {
  if (b == 0) return 0;
  const std::int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

inline std::int64_t evaluate(const ir::Expr& expr, const Values& values) {
  if (const auto* constant = expr.as<ir::IntImm>()) return constant->value;
  if (expr.as<ir::Var>() != nullptr) return values.at(expr.get());
  const auto* binary = expr.as<ir::Binary>();
  if (binary == nullptr) throw std::logic_error("evaluate: expected arithmetic on indices");
  const std::int64_t a = evaluate(binary->left, values), b = evaluate(binary->right, values);
  switch (binary->op) {
    case ir::BinaryOp::add: return a + b;
    case ir::BinaryOp::sub: return a - b;
    case ir::BinaryOp::mul: return a * b;
    case ir::BinaryOp::div: return floored(a, b);
    case ir::BinaryOp::mod: return b == 0 ? 0 : a - b * floored(a, b);
    case ir::BinaryOp::min: return a < b ? a : b;
    case ir::BinaryOp::max: return a < b ? b : a;
    case ir::BinaryOp::bit_xor: return a ^ b;
    case ir::BinaryOp::shl: return a << b;
    default: throw std::logic_error("evaluate: unexpected operation");
  }
}

// Calls visit(values) for every combination of values from low to high.
inline void over_all(const std::vector<ir::Expr>& variables, std::int64_t low, std::int64_t high,
                     const std::function<void(Values&)>& visit) {
  Values values;
  const std::function<void(std::size_t)> from = [&](std::size_t at) {
    if (at == variables.size()) return visit(values);
    for (std::int64_t value = low; value <= high; ++value) {
      values[variables[at].get()] = value;
      from(at + 1);
    }
  };
  from(0);
}

}  // namespace ferry::analysis_test
