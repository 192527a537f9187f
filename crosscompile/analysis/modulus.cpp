#include "crosscompile/analysis/modulus.h"

#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

namespace ferry::analysis {

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

}  // namespace ferry::analysis
