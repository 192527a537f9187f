#include "crosscompile/passes/simplify/alignment.h"

#include "crosscompile/ir/operators.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/passes/simplify/simplify.h"

namespace ferry::passes {

using namespace ir;

bool is_multiple(const Expr& expr, std::int64_t n) {
  if (const std::int64_t* known = as_int(expr)) return *known % n == 0;
  const auto* binary = expr.as<Binary>();
  if (binary == nullptr) return false;
  if (binary->op == BinaryOp::add || binary->op == BinaryOp::sub)
    return is_multiple(binary->left, n) && is_multiple(binary->right, n);
  const bool is_power = (n & (n - 1)) == 0;
  if (binary->op == BinaryOp::bit_xor) return is_power && is_multiple(binary->left, n) && is_multiple(binary->right, n);
  return binary->op == BinaryOp::mul && (is_multiple(binary->left, n) || is_multiple(binary->right, n));
}

std::optional<Expr> aligned_begin(const Expr& index, const Expr& var, std::int64_t lanes) {
  const Expr begin = simplify(substitute(index, Substitution{{var.get(), Expr(0)}}));
  if (!equal(simplify(index - begin), var)) return std::nullopt;
  return is_multiple(begin, lanes) ? std::optional(begin) : std::nullopt;
}

}  // namespace ferry::passes
